//! Properties across algorithms: two that solve the same problem agree, and equivalent problems have equivalent outputs.

use clrs::problems::{BipartiteGraph, Graph, Keys, Matrix, SourcedGraph};
use clrs::{
    AnyAlgorithm, Cells, Column, Family, Kind, Location, Probe, Problem, RandomState, Recorder, Registry, SamplerOptions, Stage,
};

const LARGEST: usize = 20;

/// The benchmark's graphs, sparse and dense, and every other family.
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
    Registry::builtin().find(name).expect("a built-in algorithm")
}

/// Problems of all sizes from `smallest` on, several for each set of options.
fn draw<P: Problem>(name: &str, smallest: usize, options: &[&str]) -> Vec<P> {
    let mut random = RandomState::new(11);
    let mut problems = Vec::new();
    for size in smallest..=LARGEST {
        for options in options {
            let options = SamplerOptions::parse(options.split_whitespace()).expect("option=value");
            let mut buffer = find(name).problem_buffer(size, &options).expect("a valid size");
            for index in 0..3 {
                buffer.draw(&mut random).expect("a sampled problem");
                problems.push(P::from_json(&buffer.json(index)).expect("a problem of this kind"));
            }
        }
    }
    problems
}

fn run<P: Problem>(name: &str, problem: &P) -> Recorder {
    let mut recorder = find(name).recorder();
    find(name).record_json(&problem.to_json(), &mut recorder).expect("a valid problem");
    recorder
}

/// An output of nodes: pointers, or the node of a one-hot mask.
fn pointers<P: Problem>(name: &str, output: &str, problem: &P) -> Vec<usize> {
    match run(name, problem).last().and_then(|run| run.get(output)) {
        Some(Cells::Node(nodes)) => nodes.iter().map(|&node| node as usize).collect(),
        other => panic!("{name}: {output} is {other:?}"),
    }
}

/// An output that is a mask.
fn mask<P: Problem>(name: &str, output: &str, problem: &P) -> Vec<bool> {
    match run(name, problem).last().and_then(|run| run.get(output)) {
        Some(Cells::Class(cells)) => cells.iter().map(|&cell| cell == 1).collect(),
        other => panic!("{name}: {output} is {other:?}"),
    }
}

/// Length of the path to each node along the pointers, `None` if they do not lead to the source.
fn lengths(weights: &Matrix, source: usize, pi: &[usize]) -> Vec<Option<f64>> {
    let length = |node: usize| {
        let path: Vec<usize> = std::iter::successors(Some(node), |&node| (pi[node] != node).then_some(pi[node])).collect();
        (path.last() == Some(&source))
            .then(|| path.windows(2).rev().fold(0.0, |length, edge| length + weights[(edge[1], edge[0])]))
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

/// Directed graphs with non-zero dyadic weights, so that sums are exact.
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
fn prim_and_kruskal_agree_on_the_weight_for_connected_graphs() {
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
fn bellman_ford_and_dijkstra_agree() {
    let drawn = draw("dijkstra", 3, &GRAPHS);
    for problem in drawn.into_iter().chain(directed_graphs()) {
        let SourcedGraph { weights, source } = &problem;
        let find = |name| lengths(weights, *source, &pointers(name, "pi", &problem));
        assert!(same_lengths(&find("bellman_ford"), &find("dijkstra")), "{problem:?}");
    }
}

#[test]
fn shortest_path_algorithms_agree_on_acyclic_graphs() {
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
fn floyd_warshall_and_dijkstra_agree_for_every_source() {
    let drawn = draw("floyd_warshall", 3, &GRAPHS[1..]).into_iter().map(|Graph { weights }| weights);
    for weights in drawn.chain(directed_graphs().into_iter().map(|graph| graph.weights)) {
        let n = weights.n();
        let all = pointers("floyd_warshall", "Pi", &Graph { weights: weights.clone() });
        for source in 0..n {
            let dijkstra = pointers("dijkstra", "pi", &SourcedGraph { weights: weights.clone(), source });
            let dijkstra = lengths(&weights, source, &dijkstra);
            // The diagonal is undefined, and without a path the pointer is the source.
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
fn dijkstra_and_bfs_agree_on_unit_weights() {
    for problem in draw::<SourcedGraph>("bfs", 3, &GRAPHS) {
        let SourcedGraph { weights, source } = &problem;
        let find = |name| lengths(weights, *source, &pointers(name, "pi", &problem));
        assert_eq!(find("bfs"), find("dijkstra"), "{problem:?}");
    }
}

/// Johnson's reweighting: each edge gains the difference of its nodes' potentials. All paths between two nodes change by the
/// same amount, so shortest paths stay shortest.
#[test]
fn potentials_change_lengths_but_not_shortest_paths() {
    let (mut random, mut negative) = (RandomState::new(3), 0);
    for original in directed_graphs() {
        let (n, source) = (original.nodes(), original.source);
        let potential: Vec<f64> = (0..n).map(|_| random.choice(60) as f64).collect();
        let reweighted = |u: usize, v: usize| original.weights[(u, v)] + potential[u] - potential[v];
        let weights = Matrix::from_fn(n, |u, v| if original.weights.has_edge(u, v) { reweighted(u, v) } else { 0.0 });
        negative += usize::from(weights.cells().iter().any(|&weight| weight < 0.0));

        let unchanged = lengths(&original.weights, source, &pointers("bellman_ford", "pi", &original));
        let expected: Vec<Option<f64>> =
            (0..n).map(|node| unchanged[node].map(|length| length + potential[source] - potential[node])).collect();
        let shifted = SourcedGraph { weights: weights.clone(), source };
        assert_eq!(lengths(&weights, source, &pointers("bellman_ford", "pi", &shifted)), expected, "{shifted:?}");

        let mut pi = pointers("floyd_warshall", "Pi", &Graph { weights: weights.clone() })[source * n..][..n].to_vec();
        (0..n).filter(|&node| node == source || expected[node].is_none()).for_each(|node| pi[node] = node);
        assert_eq!(lengths(&weights, source, &pi), expected, "{shifted:?}");
    }
    assert!(negative > 50, "{negative} graphs");
}

/// Weights from 1e-20 to 1e20 of either sign, whose sums lose small terms: an algorithm may reject them, but it must terminate
/// and its check must accept its output.
#[test]
fn extreme_weights_are_rejected_or_solved_correctly() {
    let mut random = RandomState::new(23);
    let (mut solved, mut rejected) = (0, 0);
    for n in (1..=8).cycle().take(4000) {
        let (density, extreme, negative) =
            (random.double(), random.bernoulli(0.5), if random.bernoulli(0.5) { 0.3 } else { 0.0 });
        let cell = |random: &mut RandomState| {
            let size = if extreme { 10f64.powf(random.choice(41) as f64 - 20.0) } else { (1 + random.choice(3)) as f64 / 10.0 };
            let sign = if random.bernoulli(negative) { -1.0 } else { 1.0 };
            if random.bernoulli(density) { size * sign } else { 0.0 }
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
                rejected += 1;
                continue;
            }
            solved += 1;
            let sample = recorder.last().expect("a recorded sample");
            assert!(sample.steps() <= algorithm.max_steps(n), "{name} on {problem}");
            let result = algorithm.check(n, &sample.stage(Stage::Input), &sample.stage(Stage::Output));
            assert!(result.is_ok(), "{name}: {result:?} on {problem}");
        }
    }
    assert!(solved > 1000 && rejected > 1000, "{solved} solved, {rejected} rejected");
}

#[test]
fn swapping_the_sides_of_a_bipartite_graph_keeps_the_size_of_the_matching() {
    let size = |graph: &BipartiteGraph| {
        let in_matching = mask("bipartite_matching", "in_matching", graph);
        let cell = |&(l, r): &(usize, usize)| graph.left_node(l) * graph.nodes() + graph.right_node(r);
        graph.edges.iter().filter(|edge| in_matching[cell(edge)]).count()
    };
    let options = ["p=0.3", "p=0.1,0.9", "length_2=3", "length_2=9 p=0.2", "graph=tree", "graph=geometric"];
    for graph in draw::<BipartiteGraph>("bipartite_matching", 3, &options) {
        let edges = graph.edges.iter().map(|&(l, r)| (r, l)).collect();
        let mirrored = BipartiteGraph { left: graph.right, right: graph.left, edges };
        assert_eq!(size(&graph), size(&mirrored), "{graph:?}");
    }
}

/// Full precision, and a single decimal, so that many keys are equal.
const KEYS: [&str; 2] = ["", "truncate_decimals=1"];

/// The keys in the order of the predecessor pointers.
fn sorted_keys(key: &[f64], pred: &[usize]) -> Vec<f64> {
    let first = (0..key.len()).find(|&node| pred[node] == node);
    let after = |&node: &usize| (0..key.len()).find(|&next| next != node && pred[next] == node);
    std::iter::successors(first, after).map(|node| key[node]).collect()
}

#[test]
fn sorts_agree_on_the_order_and_selections_on_its_elements() {
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
fn maximum_subarray_algorithms_agree_on_the_sum() {
    for problem in draw::<Keys>("find_maximum_subarray", 2, &[KEYS[0], KEYS[1], "low=-1 high=-0.1", "low=-0.1 high=1"]) {
        let sum = |name| {
            let end = |output| pointers(name, output, &problem)[0];
            problem.key[end("start")..=end("end")].iter().sum::<f64>()
        };
        let (one, other) = (sum("find_maximum_subarray"), sum("find_maximum_subarray_kadane"));
        assert!((one - other).abs() < 1e-12, "{one} and {other} on {problem:?}");
    }
}

/// Relabeling the nodes of a graph maps correct outputs to correct outputs.
#[test]
fn correct_outputs_stay_correct_when_nodes_are_relabeled() {
    let mut random = RandomState::new(17);
    for algorithm in Registry::builtin().iter().filter(|algorithm| algorithm.family() == Family::Graphs) {
        for size in (4..=LARGEST).flat_map(|size| [size; 3]) {
            let mut problems = algorithm.problem_buffer(size, &SamplerOptions::default()).expect("a valid size");
            problems.draw(&mut random).expect("a sampled problem");
            let mut recorder = algorithm.recorder();
            problems.record(0, &mut recorder).expect("a valid problem");
            let sample = recorder.last().expect("a recorded sample");
            let labels = labels(algorithm.name(), &problems.json(0), sample.nodes(), &mut random);
            let relabeled = |stage: Stage| {
                let cells = sample.iter().filter(|(probe, _)| probe.stage == stage);
                cells.map(|(probe, cells)| relabel(probe, cells, &labels)).collect::<Vec<Column>>()
            };
            let (inputs, outputs) = (relabeled(Stage::Input), relabeled(Stage::Output));
            let result = algorithm.check(sample.nodes(), &views(&inputs), &views(&outputs));
            assert!(result.is_ok(), "{}: {result:?} on {} relabeled {labels:?}", algorithm.name(), problems.json(0));
        }
    }
}

/// A random permutation of the nodes. The nodes of a bipartite network stay on their side.
fn labels(algorithm: &str, problem: &str, nodes: usize, random: &mut RandomState) -> Vec<usize> {
    if algorithm != "bipartite_matching" {
        return random.permutation(nodes);
    }
    let BipartiteGraph { left, right, .. } = BipartiteGraph::from_json(problem).expect("a sampled problem");
    let on_the_left = random.permutation(left).into_iter().map(|l| 1 + l);
    let on_the_right = random.permutation(right).into_iter().map(|r| 1 + left + r);
    std::iter::once(0).chain(on_the_left).chain(on_the_right).chain([left + right + 1]).collect()
}

fn views(columns: &[Column]) -> Vec<Cells<'_>> {
    columns.iter().map(Column::cells).collect()
}

fn relabel(probe: &Probe, cells: Cells<'_>, labels: &[usize]) -> Column {
    fn put<T: Copy>(cells: &[T], index: impl Fn(usize) -> usize, relabel: impl Fn(T) -> T) -> Vec<T> {
        let mut moved = cells.to_vec();
        cells.iter().enumerate().for_each(|(cell, &value)| moved[index(cell)] = relabel(value));
        moved
    }
    let n = labels.len();
    let index = |cell: usize| match (probe.location, probe.kind) {
        // Positions belong to the order of the nodes, not to the nodes.
        _ if probe.name == "pos" => cell,
        (Location::Graph, _) | (_, Kind::MaskOne) => cell,
        (Location::Node, _) => labels[cell],
        (Location::Edge, _) => labels[cell / n] * n + labels[cell % n],
    };
    match cells {
        Cells::Scalar(cells) => Column::Scalar(put(cells, index, |value| value)),
        Cells::Class(cells) => Column::Class(put(cells, index, |value| value)),
        Cells::Node(cells) => Column::Node(put(cells, index, |node| u32::try_from(labels[node as usize]).expect("few nodes"))),
    }
}
