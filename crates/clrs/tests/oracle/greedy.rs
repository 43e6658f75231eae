use clrs::problems::{Activities, Tasks};
use clrs::{Cells, Problem};

/// Compares with every subset.
pub(crate) fn is_correct(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    let &[Cells::Class(selected)] = outputs else { return None };
    let chosen: Vec<usize> = (0..selected.len()).filter(|&node| selected[node] == 1).collect();
    match algorithm {
        "activity_selector" => {
            let problem = Activities::from_json(problem).expect("a sampled problem");
            let largest = subsets(selected.len()).filter(|set| disjoint(&problem, set)).map(|set| set.len()).max();
            Some(disjoint(&problem, &chosen) && Some(chosen.len()) == largest)
        }
        "task_scheduling" => {
            let problem = Tasks::from_json(problem).expect("a sampled problem");
            let weight = |set: &[usize]| set.iter().map(|&task| problem.weight[task]).sum::<f64>();
            let mut feasible = subsets(selected.len()).filter(|set| early(&problem, set));
            Some(early(&problem, &chosen) && feasible.all(|set| weight(&set) <= weight(&chosen) + 1e-9))
        }
        _ => None,
    }
}

fn subsets(n: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1u32 << n).map(move |set| (0..n).filter(|node| set >> node & 1 == 1).collect())
}

fn disjoint(Activities { start, finish }: &Activities, set: &[usize]) -> bool {
    let apart = |a: usize, b: usize| finish[a] <= start[b] || finish[b] <= start[a];
    set.iter().all(|&a| set.iter().all(|&b| a == b || apart(a, b)))
}

/// Whether all tasks meet their deadlines if they are scheduled by decreasing weight. Sampled weights are distinct.
fn early(Tasks { deadline, weight }: &Tasks, set: &[usize]) -> bool {
    set.iter().all(|&task| {
        let before = set.iter().filter(|&&other| weight[other] > weight[task]).count();
        before < deadline[task] as usize
    })
}
