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
            let is_special = |task: usize| problem.weight[task] <= 0.0 || problem.weight[..task].contains(&problem.weight[task]);
            if (0..selected.len()).any(is_special) {
                return Some(is_scheduled(&problem, &chosen, &mut Vec::new(), &mut Vec::new()));
            }
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

/// Whether the tasks are scheduled for some order of equal weights. Tries all of them.
fn is_scheduled(problem: &Tasks, chosen: &[usize], seen: &mut Vec<usize>, scheduled: &mut Vec<usize>) -> bool {
    let Tasks { deadline, weight } = problem;
    let left: Vec<usize> = (0..weight.len()).filter(|task| !seen.contains(task)).collect();
    let heaviest = left.iter().map(|&task| weight[task]).fold(f64::NEG_INFINITY, f64::max);
    let mut next = left.iter().filter(|&&task| weight[task] == heaviest);
    if left.is_empty() {
        return scheduled.len() == chosen.len() && scheduled.iter().all(|task| chosen.contains(task));
    }
    next.any(|&task| {
        let is_early = scheduled.len() < deadline[task] as usize;
        seen.push(task);
        if is_early {
            scheduled.push(task);
        }
        let found = is_scheduled(problem, chosen, seen, scheduled);
        if is_early {
            scheduled.pop();
        }
        seen.pop();
        found
    })
}

/// Whether all tasks meet their deadlines if they are scheduled by decreasing weight. Weights are positive and distinct.
fn early(Tasks { deadline, weight }: &Tasks, set: &[usize]) -> bool {
    set.iter().all(|&task| {
        let before = set.iter().filter(|&&other| weight[other] > weight[task]).count();
        before < deadline[task] as usize
    })
}
