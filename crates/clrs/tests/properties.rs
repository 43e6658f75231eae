//! What holds between algorithms: two that solve the same problem agree, and a problem told otherwise has the same answer.

use clrs::problems::{BipartiteGraph, Graph, Keys, Matrix, SourcedGraph};
use clrs::{
    AnyAlgorithm, Cells, Column, Family, Kind, Location, Probe, Problem, RandomState, Recorder, Registry, SamplerOptions, Stage,
};

const LARGEST: usize = 20;

/// Graphs of the benchmark's own kind, thin and dense, and of every other family.
const GRAPHS: [&str; 8] = [
    "p=0.5",
    "p=0.3,0.7",
    "p=0.9",
    "graph=tree",
    "graph=grid",
    "graph=geometric",
    "graph=watts_strogatz",
    "graph=barabasi_albert",
];

fn find(name: &str) -> &'static dyn AnyAlgorithm {
    Registry::builtin().find(name).expect("listed")
}

/// Problems of all sizes from `smallest` on, several for each setting.
fn draw<P: Problem>(name: &str, smallest: usize, settings: &[&str]) -> Vec<P> {
    let mut random = RandomState::new(11);
    let mut problems = Vec::new();
    for size in smallest..=LARGEST {
        for setting in settings {
            let settings = SamplerOptions::parse(setting.split_whitespace()).expect("settings");
            let mut draws = find(name).problem_buffer(size, &settings).expect("these sizes are admitted");
            for place in 0..3 {
                draws.draw(&mut random).expect("drawn");
                problems.push(P::from_json(&draws.json(place)).expect("a problem of this kind"));
            }
        }
    }
    problems
}

fn run<P: Problem>(name: &str, problem: &P) -> Recorder {
    let mut recorder = find(name).recorder();
    find(name).record_json(&problem.to_json(), &mut recorder).expect("admitted");
    recorder
}

/// An answer that is made of nodes: pointers, or the one that is meant.
fn pointers<P: Problem>(name: &str, output: &str, problem: &P) -> Vec<usize> {
    match run(name, problem).last().and_then(|run| run.get(output)) {
        Some(Cells::Node(nodes)) => nodes.iter().map(|&node| node as usize).collect(),
        other => panic!("{name}: {output} is {other:?}"),
    }
}

/// An answer that is a mask.
fn mask<P: Problem>(name: &str, output: &str, problem: &P) -> Vec<bool> {
    match run(name, problem).last().and_then(|run| run.get(output)) {
        Some(Cells::Class(cells)) => cells.iter().map(|&cell| cell == 1).collect(),
        other => panic!("{name}: {output} is {other:?}"),
    }
}

/// How long the way to each node is along pointers, `None` where they do not come from the source.
fn lengths(weights: &Matrix, source: usize, pi: &[usize]) -> Vec<Option<f64>> {
    let length = |node: usize| {
        let way: Vec<usize> = std::iter::successors(Some(node), |&node| (pi[node] != node).then_some(pi[node])).collect();
        (way.last() == Some(&source)).then(|| way.windows(2).rev().fold(0.0, |length, edge| length + weights[(edge[1], edge[0])]))
    };
    (0..pi.len()).map(length).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn same_lengths(a: &[Option<f64>], b: &[Option<f64>]) -> bool {
    a.iter().zip(b).all(|(a, b)| match (a, b) {
        (Some(a), Some(b)) => close(*a, *b),
        (None, None) => true,
        _ => false,
    })
}

/// Directed graphs of dyadic weights, none of them 0, so that sums are exact.
fn directed_graphs() -> Vec<SourcedGraph> {
    let mut random = RandomState::new(5);
    let sizes = (1..=LARGEST).flat_map(|n| [n; 5]);
    let graph = |n: usize| {
        let weights = (0..n * n).map(|_| if random.bernoulli(0.3) { random.choice(40) as f64 + 0.5 } else { 0.0 }).collect();
        SourcedGraph { weights: Matrix::from_cells(n, weights).expect("square"), source: random.choice(n) }
    };
    sizes.map(graph).collect()
}

#[test]
fn both_spanning_trees_have_the_same_weight_where_the_graph_is_connected() {
    let mut connected = 0;
    for problem in draw::<SourcedGraph>("mst_prim", 3, &GRAPHS) {
        let SourcedGraph { weights, source } = &problem;
        let n = weights.n();
        let pi = pointers("mst_prim", "pi", &problem);
        if (0..n).any(|node| node != *source && pi[node] == node) {
            continue;
        }
        connected += 1;
        let prim: f64 = (0..n).filter(|&node| pi[node] != node).map(|node| weights[(pi[node], node)]).sum();
        let in_mst = mask("mst_kruskal", "in_mst", &Graph { weights: weights.clone() });
        let kruskal: f64 = (0..n * n).filter(|&cell| in_mst[cell]).map(|cell| weights.cells()[cell] / 2.0).sum();
        assert!(close(prim, kruskal), "{prim} and {kruskal} on {problem:?}");
    }
    assert!(connected > 200, "{connected} graphs");
}

#[test]
fn bellman_ford_finds_the_lengths_that_dijkstra_finds() {
    let drawn = draw("dijkstra", 3, &GRAPHS);
    for problem in drawn.into_iter().chain(directed_graphs()) {
        let SourcedGraph { weights, source } = &problem;
        let find = |name| lengths(weights, *source, &pointers(name, "pi", &problem));
        assert!(same_lengths(&find("bellman_ford"), &find("dijkstra")), "{problem:?}");
    }
}

#[test]
fn shortest_paths_without_cycles_are_found_by_all_that_admit_the_weights() {
    let mut all_positive = 0;
    for problem in
        draw::<SourcedGraph>("dag_shortest_paths", 3, &["p=0.5", "p=0.3,0.7 low=-1", "graph=tree", "graph=grid low=-1"])
    {
        let SourcedGraph { weights, source } = &problem;
        let find = |name| lengths(weights, *source, &pointers(name, "pi", &problem));
        let dag = find("dag_shortest_paths");
        assert!(same_lengths(&dag, &find("bellman_ford")), "{problem:?}");
        if weights.non_negative().is_ok() {
            all_positive += 1;
            assert!(same_lengths(&dag, &find("dijkstra")), "{problem:?}");
        }
    }
    assert!(all_positive > 100, "{all_positive} graphs");
}

#[test]
fn floyd_warshall_finds_the_lengths_that_dijkstra_finds_from_every_source() {
    let drawn = draw("floyd_warshall", 3, &GRAPHS[1..]).into_iter().map(|Graph { weights }| weights);
    for weights in drawn.chain(directed_graphs().into_iter().map(|graph| graph.weights)) {
        let n = weights.n();
        let all = pointers("floyd_warshall", "Pi", &Graph { weights: weights.clone() });
        for source in 0..n {
            let dijkstra = pointers("dijkstra", "pi", &SourcedGraph { weights: weights.clone(), source });
            let dijkstra = lengths(&weights, source, &dijkstra);
            // The diagonal means nothing, and where there is no path, the pointer to the source does not either.
            let mut pi = all[source * n..][..n].to_vec();
            pi[source] = source;
            for node in (0..n).filter(|&node| dijkstra[node].is_none()) {
                assert_eq!(std::mem::replace(&mut pi[node], node), source, "{weights:?}");
            }
            assert!(same_lengths(&lengths(&weights, source, &pi), &dijkstra), "from {source} in {weights:?}");
        }
    }
}

#[test]
fn dijkstra_on_unit_weights_finds_the_hops_of_breadth_first_search() {
    for problem in draw::<SourcedGraph>("bfs", 3, &GRAPHS) {
        let SourcedGraph { weights, source } = &problem;
        let find = |name| lengths(weights, *source, &pointers(name, "pi", &problem));
        assert_eq!(find("bfs"), find("dijkstra"), "{problem:?}");
    }
}

/// Johnson: a height for every node, and each edge weighing more by what it descends. Every path from the source to a node
/// changes by the same, so the shortest stay the shortest.
#[test]
fn heights_below_the_edges_change_lengths_but_no_shortest_path() {
    let (mut random, mut negative) = (RandomState::new(3), 0);
    for level in directed_graphs() {
        let (n, source) = (level.nodes(), level.source);
        let height: Vec<f64> = (0..n).map(|_| random.choice(60) as f64).collect();
        let slope = |u: usize, v: usize| level.weights[(u, v)] + height[u] - height[v];
        let weights = Matrix::from_fn(n, |u, v| if level.weights.has_edge(u, v) { slope(u, v) } else { 0.0 });
        negative += usize::from(weights.cells().iter().any(|&weight| weight < 0.0));

        let on_level = lengths(&level.weights, source, &pointers("bellman_ford", "pi", &level));
        let expected: Vec<Option<f64>> =
            (0..n).map(|node| on_level[node].map(|length| length + height[source] - height[node])).collect();
        let sloping = SourcedGraph { weights: weights.clone(), source };
        assert_eq!(lengths(&weights, source, &pointers("bellman_ford", "pi", &sloping)), expected, "{sloping:?}");

        let mut pi = pointers("floyd_warshall", "Pi", &Graph { weights: weights.clone() })[source * n..][..n].to_vec();
        (0..n).filter(|&node| node == source || expected[node].is_none()).for_each(|node| pi[node] = node);
        assert_eq!(lengths(&weights, source, &pi), expected, "{sloping:?}");
    }
    assert!(negative > 50, "{negative} graphs");
}

/// Weights from 1e-20 to 1e20 of either sign, where sums swallow what is small: an algorithm may refuse them, but not run on for
/// ever or give an answer that its own check refuses.
#[test]
fn whatever_weights_are_admitted_the_answer_is_right() {
    let mut random = RandomState::new(23);
    let (mut admitted, mut refused) = (0, 0);
    for n in (1..=8).cycle().take(4000) {
        let (chance, wild, below_zero) = (random.double(), random.bernoulli(0.5), if random.bernoulli(0.5) { 0.3 } else { 0.0 });
        let cell = |random: &mut RandomState| {
            let size = if wild { 10f64.powf(random.choice(41) as f64 - 20.0) } else { (1 + random.choice(3)) as f64 / 10.0 };
            let sign = if random.bernoulli(below_zero) { -1.0 } else { 1.0 };
            if random.bernoulli(chance) { size * sign } else { 0.0 }
        };
        let cells: Vec<f64> = (0..n * n).map(|_| cell(&mut random)).collect();
        let undirected = random.bernoulli(0.5);
        let weights = Matrix::from_fn(n, |u, v| cells[if undirected { u.min(v) * n + u.max(v) } else { u * n + v }]);
        let sourced = SourcedGraph { weights: weights.clone(), source: random.choice(n) }.to_json();
        let graph = Graph { weights }.to_json();
        for (name, problem) in [
            ("bellman_ford", &sourced),
            ("dijkstra", &sourced),
            ("floyd_warshall", &graph),
            ("mst_kruskal", &graph),
            ("mst_prim", &sourced),
        ] {
            let (algorithm, mut recorder) = (find(name), find(name).recorder());
            if algorithm.record_json(problem, &mut recorder).is_err() {
                refused += 1;
                continue;
            }
            admitted += 1;
            let run = recorder.last().expect("recorded");
            assert!(run.steps() <= algorithm.max_steps(n), "{name} on {problem}");
            let verdict = algorithm.check(n, &run.stage(Stage::Input), &run.stage(Stage::Output));
            assert!(verdict.is_ok(), "{name}: {verdict:?} on {problem}");
        }
    }
    assert!(admitted > 1000 && refused > 1000, "{admitted} admitted, {refused} refused");
}

#[test]
fn a_bipartite_graph_in_the_mirror_has_matchings_of_the_same_size() {
    let size = |graph: &BipartiteGraph| {
        let in_matching = mask("bipartite_matching", "in_matching", graph);
        let cell = |&(l, r): &(usize, usize)| graph.left_node(l) * graph.nodes() + graph.right_node(r);
        graph.edges.iter().filter(|edge| in_matching[cell(edge)]).count()
    };
    let settings = ["p=0.3", "p=0.1,0.9", "length_2=3", "length_2=9 p=0.2", "graph=tree", "graph=geometric"];
    for graph in draw::<BipartiteGraph>("bipartite_matching", 3, &settings) {
        let edges = graph.edges.iter().map(|&(l, r)| (r, l)).collect();
        let mirrored = BipartiteGraph { left: graph.right, right: graph.left, edges };
        assert_eq!(size(&graph), size(&mirrored), "{graph:?}");
    }
}

/// Keys as they are drawn, and with so few decimals that many are equal.
const KEYS: [&str; 2] = ["", "truncate_decimals=1"];

/// The keys in the order that pointers to predecessors describe.
fn sorted_keys(key: &[f64], pred: &[usize]) -> Vec<f64> {
    let first = (0..key.len()).find(|&node| pred[node] == node);
    let after = |&node: &usize| (0..key.len()).find(|&next| next != node && pred[next] == node);
    std::iter::successors(first, after).map(|node| key[node]).collect()
}

#[test]
fn the_sorts_agree_on_the_order_and_the_selections_on_their_places_in_it() {
    for problem in draw::<Keys>("quicksort", 2, &KEYS) {
        let Keys { key } = &problem;
        let sorted = sorted_keys(key, &pointers("insertion_sort", "pred", &problem));
        assert_eq!(sorted.len(), key.len());
        for name in ["bubble_sort", "heapsort", "quicksort"] {
            assert_eq!(sorted_keys(key, &pointers(name, "pred", &problem)), sorted, "{name} on {problem:?}");
        }
        let selected = |name, output| key[pointers(name, output, &problem)[0]];
        assert_eq!(selected("minimum", "min"), sorted[0], "{problem:?}");
        assert_eq!(selected("quickselect", "median"), sorted[key.len() / 2], "{problem:?}");
    }
}

#[test]
fn both_maximum_subarrays_have_the_same_sum() {
    for problem in draw::<Keys>("find_maximum_subarray", 2, &[KEYS[0], KEYS[1], "low=-1 high=-0.1", "low=-0.1 high=1"]) {
        let sum = |name| {
            let end = |output| pointers(name, output, &problem)[0];
            problem.key[end("start")..=end("end")].iter().sum::<f64>()
        };
        let (one, other) = (sum("find_maximum_subarray"), sum("find_maximum_subarray_kadane"));
        assert!((one - other).abs() < 1e-12, "{one} and {other} on {problem:?}");
    }
}

/// Renaming the nodes of a graph renames a right answer into a right answer.
#[test]
fn right_answers_stay_right_when_nodes_are_renamed() {
    let mut random = RandomState::new(17);
    for algorithm in Registry::builtin().iter().filter(|algorithm| algorithm.family() == Family::Graphs) {
        for size in (4..=LARGEST).flat_map(|size| [size; 3]) {
            let mut draws = algorithm.problem_buffer(size, &SamplerOptions::default()).expect("every size from 4 on");
            draws.draw(&mut random).expect("drawn");
            let mut recorder = algorithm.recorder();
            draws.record(0, &mut recorder).expect("admitted");
            let run = recorder.last().expect("recorded");
            let names = names(algorithm.name(), &draws.json(0), run.nodes(), &mut random);
            let renamed = |stage: Stage| {
                let cells = run.iter().filter(|(probe, _)| probe.stage == stage);
                cells.map(|(probe, cells)| rename(probe, cells, &names)).collect::<Vec<Column>>()
            };
            let (inputs, outputs) = (renamed(Stage::Input), renamed(Stage::Output));
            let verdict = algorithm.check(run.nodes(), &views(&inputs), &views(&outputs));
            assert!(verdict.is_ok(), "{}: {verdict:?} on {} renamed {names:?}", algorithm.name(), draws.json(0));
        }
    }
}

/// A new name for every node: any, but where nodes have roles by their number they keep them.
fn names(algorithm: &str, problem: &str, nodes: usize, random: &mut RandomState) -> Vec<usize> {
    if algorithm != "bipartite_matching" {
        return random.permutation(nodes);
    }
    let BipartiteGraph { left, right, .. } = BipartiteGraph::from_json(problem).expect("drawn");
    let on_the_left = random.permutation(left).into_iter().map(|l| 1 + l);
    let on_the_right = random.permutation(right).into_iter().map(|r| 1 + left + r);
    std::iter::once(0).chain(on_the_left).chain(on_the_right).chain([left + right + 1]).collect()
}

fn views(columns: &[Column]) -> Vec<Cells<'_>> {
    columns.iter().map(Column::cells).collect()
}

fn rename(probe: &Probe, cells: Cells<'_>, names: &[usize]) -> Column {
    fn put<T: Copy>(cells: &[T], place: impl Fn(usize) -> usize, rename: impl Fn(T) -> T) -> Vec<T> {
        let mut moved = cells.to_vec();
        cells.iter().enumerate().for_each(|(cell, &value)| moved[place(cell)] = rename(value));
        moved
    }
    let n = names.len();
    let place = |cell: usize| match (probe.location, probe.kind) {
        // Positions say where a node stands, not which it is; a node by itself has no place.
        _ if probe.name == "pos" => cell,
        (Location::Graph, _) | (_, Kind::MaskOne) => cell,
        (Location::Node, _) => names[cell],
        (Location::Edge, _) => names[cell / n] * n + names[cell % n],
    };
    match cells {
        Cells::Scalar(cells) => Column::Scalar(put(cells, place, |value| value)),
        Cells::Class(cells) => Column::Class(put(cells, place, |value| value)),
        Cells::Node(cells) => Column::Node(put(cells, place, |node| u32::try_from(names[node as usize]).expect("few nodes"))),
    }
}
