//! Prim's minimum spanning tree
//!
//! # Idea
//! Grows one tree from the source. The lightest edge that leaves the tree belongs to some minimum spanning tree, so its other
//! endpoint joins next.
//!
//! # One step
//! The node with the lightest edge to the tree joins it, and the keys of its neighbors are updated.
//!
//! # Number of steps
//! At most `n + 1`: the initial state, then one per reachable node.
//!
//! # Textbook
//! CLRS 3rd ed., section 23.2.
//!
//! # Correctness
//! Any minimum spanning tree of the source's component, with each node pointing towards the source; all other nodes point to
//! themselves. A tree is minimum if no edge in it can be replaced by one that is lighter by more than a relative tolerance of
//! 1e-9.
//!
//! # Differences from dm-clrs
//! Directed graphs are rejected. As in dm-clrs, nodes enter the queue when they are first reached, and their keys are 0 until
//! then. dm-clrs selects the node with an unstable sort, so its order of equal keys is unspecified; here the first node joins.
//! dm-clrs also stops when all queued nodes have keys above 1e9; this implementation continues.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::trees;
use crate::cell::{Edge, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, InvalidProblem, RandomGraphs, RandomSourcedGraphs, SourcedGraph, Structure, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Prim's minimum spanning tree; see the [module](self).
pub struct MstPrim;

probes! {
    MstPrim;
    input {
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// root of the tree
        source as "s": Node<MaskOne>,
        /// weight of the edge from row to column; 0 if there is none
        weights as "A": Edge<Scalar>,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
    }
    output {
        /// parent in the tree; the source and unreachable nodes point to themselves
        pi: Node<Pointer> as i64,
    }
    hint {
        /// endpoint in the tree of the lightest edge known so far
        pi_h: Node<Pointer>,
        /// weight of that edge; 0 if there is none
        key: Node<Scalar>,
        /// whether the node is in the tree
        mark: Node<Mask>,
        /// whether the node has an edge to the tree, but is not in it
        in_queue: Node<Mask>,
        /// node that just joined the tree
        u: Node<MaskOne>,
    }
}

impl Algorithm for MstPrim {
    const NAME: &'static str = "mst_prim";
    const SOURCE: Source = Source(include_str!("mst_prim.rs"));
    const FAMILY: Family = Family::Graphs;
    type Problem = SourcedGraph;
    type Distribution = RandomSourcedGraphs;

    fn distribution() -> RandomSourcedGraphs {
        RandomSourcedGraphs(RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted())
    }

    fn preconditions(problem: &SourcedGraph) -> Result<(), InvalidProblem> {
        problem.weights.symmetric()
    }

    fn input(SourcedGraph { weights, source }: &SourcedGraph) -> Input {
        Input { pos: positions(weights.n()), source: *source, weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<SourcedGraph, InvalidProblem> {
        Ok(SourcedGraph { weights: Graph::from_inputs(&input.weights, &input.adj)?.weights, source: input.source })
    }

    fn max_steps(n: usize) -> usize {
        n + 1
    }

    fn run(SourcedGraph { weights, source }: &SourcedGraph, hints: &mut Hints<'_, Self>) -> Output {
        let n = weights.n();
        let mut pi: Vec<usize> = (0..n).collect();
        let mut key = vec![0.0; n];
        let mut mark = vec![false; n];
        let mut in_queue = vec![false; n];
        let mut u = *source;
        in_queue[u] = true;
        loop {
            hints.push(Hint { pi_h: &pi, key: &key, mark: &mark, in_queue: &in_queue, u });
            let queue = (0..n).filter(|&node| in_queue[node]);
            let Some(lightest) = queue.min_by(|&a, &b| key[a].total_cmp(&key[b])) else {
                return Output { pi };
            };
            u = lightest;
            mark[u] = true;
            in_queue[u] = false;
            for v in weights.neighbors(u).filter(|&v| !mark[v]) {
                if !in_queue[v] || weights[(u, v)] < key[v] {
                    pi[v] = u;
                    key[v] = weights[(u, v)];
                    in_queue[v] = true;
                }
            }
        }
    }

    fn check(SourcedGraph { weights, source }: &SourcedGraph, Output { pi }: &Output) -> Result<(), CheckFailure> {
        let nodes = trees::top_down(weights, *source, pi)?;
        let edges: Vec<(usize, usize)> = nodes[1..].iter().map(|&node| (pi[node], node)).collect();
        trees::check_minimum_forest(weights, &edges, nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    /// Figure 23.5 of the textbook; a to i are nodes 0 to 8.
    const FIGURE: &str = r#"{"source": 0, "weights": [
        [0,4,0,0,0,0,0,8,0], [4,0,8,0,0,0,0,11,0], [0,8,0,7,0,4,0,0,2], [0,0,7,0,9,14,0,0,0], [0,0,0,9,0,10,0,0,0],
        [0,0,4,14,10,0,2,0,0], [0,0,0,0,0,2,0,1,6], [8,11,0,0,0,0,1,0,7], [0,0,2,0,0,0,6,7,0]]}"#;

    fn record(json: &str) -> Result<Recorder, InvalidProblem> {
        let mut recorder = Recorder::new::<MstPrim>();
        recorder.record::<MstPrim>(&SourcedGraph::from_json(json)?)?;
        Ok(recorder)
    }

    #[test]
    fn grows_the_tree_of_the_textbook_and_check_accepts_the_alternative() {
        let recorder = record(FIGURE).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("u"), Some(Cells::Node(&[0, 0, 1, 2, 8, 5, 6, 7, 3, 4])));
        assert_eq!(sample.get("pi"), Some(Cells::Node(&[0, 0, 1, 2, 3, 2, 5, 6, 2])));

        let graph = SourcedGraph::from_json(FIGURE).expect("a valid problem");
        let reason = |pi: [usize; 9]| MstPrim::check(&graph, &Output { pi: pi.into() }).err().map(|failure| failure.0);
        assert_eq!(reason([0, 0, 5, 2, 3, 6, 7, 0, 2]), None, "c is reached through h instead of b");
        assert_eq!(
            reason([0, 0, 1, 2, 5, 2, 5, 6, 2]).as_deref(),
            Some("the edge 5 - 4 weighs 10, but could be replaced by 3 - 4, which weighs 9")
        );
    }

    #[test]
    fn check_reports_the_edge_that_should_be_in_the_tree() {
        let triangle = r#"{"source": 2, "weights": [[0,-1,5,0],[-1,0,3,0],[5,3,9,0],[0,0,0,1]]}"#;
        let graph = SourcedGraph::from_json(triangle).expect("a valid problem");
        let reason = |pi: [usize; 4]| MstPrim::check(&graph, &Output { pi: pi.into() }).err().map(|failure| failure.0);
        assert_eq!(reason([1, 2, 2, 3]), None);
        let heavier = "the edge 2 - 0 weighs 5, but could be replaced by 2 - 1, which weighs 3";
        assert_eq!(reason([2, 0, 2, 3]).as_deref(), Some(heavier));
        assert_eq!(reason([1, 0, 2, 3]).as_deref(), Some("the pointers from node 0 do not lead to 2"));
        assert_eq!(reason([1, 2, 2, 2]).as_deref(), Some("node 3 points to 2, but is not reachable from 2"));
    }

    #[test]
    fn directed_graphs_are_rejected() {
        let directed = r#"{"weights": [[0,1],[2,0]], "source": 0}"#;
        let rejected = record(directed).err().expect("directed");
        assert_eq!(rejected.to_string(), "the graph is directed: `weights` is not symmetric");
    }
}
