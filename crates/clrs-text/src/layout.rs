//! Which probes of a spec the text form shows, and where.

use clrs::{AnyAlgorithm, Kind, Location, Probe, Spec, Stage};

/// Input that no text shows: the position of a node is its place in a list.
const POSITION: &str = "pos";
/// Input that follows from [`WEIGHTS`].
const ADJACENCY: &str = "adj";
/// Weights of the edges.
const WEIGHTS: &str = "A";
/// Input whose values stand for nodes where the text of dm-clrs shows a permutation.
const KEY: &str = "key";

/// Indices of probes in a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Inputs of the question.
    pub(crate) inputs: Vec<usize>,
    /// The input whose values stand for nodes in permutations.
    pub(crate) key: Option<usize>,
    /// All outputs.
    pub(crate) outputs: Vec<usize>,
    /// Hints of the trace.
    pub(crate) trace: Vec<Traced>,
    /// Whether the algorithm chose the hints of the trace. They are then what the question asks for.
    pub(crate) is_trace_chosen: bool,
}

/// A hint of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traced {
    pub(crate) hint: usize,
    /// Whether the output that it is named after is a permutation.
    pub(crate) is_permutation: bool,
}

impl Layout {
    /// The layout of trajectories of an algorithm with a spec, which may lack some of the algorithm's probes.
    pub(crate) fn new(algorithm: &dyn AnyAlgorithm, spec: &Spec) -> Layout {
        let of = |stage: Stage| spec.iter().enumerate().filter(move |(_, probe)| probe.stage == stage);
        let is_shown = |probe: &Probe| !is_derived(probe, spec);
        let is_key = |probe: &Probe| probe.name == KEY && (probe.location, probe.kind) == (Location::Node, Kind::Scalar);
        let chosen = algorithm.text_trace();
        let named_after = |hint: &Probe| {
            let output = hint.name.strip_suffix("_h")?;
            of(Stage::Output).find(|(_, probe)| probe.name == output).map(|(_, probe)| probe.kind == Kind::Permutation)
        };
        let traced = |(hint, probe): (usize, &Probe)| {
            let is_permutation = if chosen.is_empty() { named_after(probe)? } else { false };
            (chosen.is_empty() || chosen.contains(&&*probe.name)).then_some(Traced { hint, is_permutation })
        };
        Layout {
            inputs: of(Stage::Input).filter(|(_, probe)| is_shown(probe)).map(|(index, _)| index).collect(),
            key: of(Stage::Input).find(|(_, probe)| is_key(probe)).map(|(index, _)| index),
            outputs: of(Stage::Output).map(|(index, _)| index).collect(),
            trace: of(Stage::Hint).filter_map(traced).collect(),
            is_trace_chosen: !chosen.is_empty(),
        }
    }

    /// The outputs as the text of dm-clrs shows them after a trace: one for each hint of a chosen trace. Binary search ends with
    /// `low` and `high` at the node that it returns.
    pub(crate) fn traced_outputs(&self) -> Vec<usize> {
        let count = if self.is_trace_chosen { self.trace.len().max(self.outputs.len()) } else { self.outputs.len() };
        self.outputs.iter().chain(self.outputs.last().into_iter().cycle()).copied().take(count).collect()
    }

    /// Whether the text of dm-clrs puts the values of a step into parentheses.
    pub(crate) fn has_parentheses(&self) -> bool {
        self.is_trace_chosen && self.trace.len() > 1
    }
}

/// Whether an input is not shown, since it follows from the others.
pub(crate) fn is_derived(probe: &Probe, spec: &[Probe]) -> bool {
    let is_adjacency = probe.name == ADJACENCY && spec.iter().any(|probe| probe.name == WEIGHTS);
    probe.stage == Stage::Input && (probe.name == POSITION || is_adjacency)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clrs::Registry;

    fn names(algorithm: &str) -> [String; 3] {
        let algorithm = Registry::builtin().find(algorithm).expect("a built-in algorithm");
        let spec = Spec::from(algorithm.spec());
        let layout = Layout::new(algorithm, &spec);
        let trace: Vec<usize> = layout.trace.iter().map(|traced| traced.hint).collect();
        [&layout.inputs, &trace, &layout.traced_outputs()]
            .map(|indices| indices.iter().map(|&index| &*spec[index].name).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn traces_are_hints_named_after_outputs_or_chosen_by_the_algorithm() {
        assert_eq!(names("bfs"), ["s A", "pi_h", "pi"]);
        assert_eq!(names("topological_sort"), ["A", "topo_h topo_head_h", "topo topo_head"]);
        assert_eq!(names("binary_search"), ["key target", "low high", "return return"]);
        assert_eq!(names("find_maximum_subarray_kadane"), ["key", "best_low best_high", "start end"]);
        assert_eq!(names("kmp_matcher"), ["string key", "s", "match"]);
        assert_eq!(names("segments_intersect"), ["x y", "", "intersect"]);
    }
}
