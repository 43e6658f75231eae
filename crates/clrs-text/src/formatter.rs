use std::borrow::Cow;
use std::ops::Range;

use clrs::{AnyAlgorithm, Cells, DType, Kind, Location, Probe, Spec, Stage, Trajectory};
use serde::Serialize;

use crate::format::Format;
use crate::layout::{Layout, Traced};
use crate::number::{push_integer, push_rounded, push_shortest};

/// A question and its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The problem, and what is asked for.
    pub question: String,
    /// What the algorithm answers.
    pub answer: String,
}

impl Example {
    /// The question and the answer, as they are concatenated for training.
    pub fn text(&self) -> String {
        [&*self.question, &*self.answer].concat()
    }
}

/// Formats trajectories of one algorithm: sampled ones, stored ones, those of given problems, and predictions.
///
/// ```
/// use clrs::Registry;
/// use clrs_text::{Format, Formatter};
///
/// let sort = Registry::builtin().find("insertion_sort")?;
/// let mut recorder = sort.recorder();
/// sort.record_json(r#"{"key": [0.5, 0.2, 0.4]}"#, &mut recorder)?;
/// let sample = recorder.trajectories().get(0);
///
/// let plain = Formatter::new(sort, Format::V2_0_3, false).format(sample)?;
/// assert_eq!(plain.question, "insertion_sort:\nkey: [0.5 0.2 0.4]\npred:\n");
/// assert_eq!(plain.answer, "[0.2 0.4 0.5]\n\n");
///
/// let traced = Formatter::new(sort, Format::V2_0_3, true).format(sample)?;
/// assert_eq!(traced.question, "insertion_sort:\nkey: [0.5 0.2 0.4], initial_trace: [0.5 0.2 0.4]\ntrace | pred:\n");
/// assert_eq!(traced.answer, "[0.2 0.5 0.4] | [0.2 0.4 0.5]\n\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Formatter {
    algorithm: &'static dyn AnyAlgorithm,
    format: Format,
    hints: bool,
    spec: Spec,
    layout: Layout,
}

/// A trajectory that a format cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum FormatError {
    #[error("the trajectory lacks {}s of the algorithm", .0.name())]
    Missing(Stage),
    #[error("`{probe}` does not describe an order of the nodes, and {format} shows orders; text@1 shows pointers")]
    NotAPermutation { probe: String, format: Format },
    #[error("the trajectory has no steps to trace")]
    NoSteps,
    #[error("the prediction has {predicted} nodes, the sample {sample}")]
    Nodes { sample: usize, predicted: usize },
    #[error("`{0}` is not a name that text can have: use letters, digits and _")]
    Name(String),
}

impl Formatter {
    /// Creates a formatter. `hints` selects traces: the hints of the first step in the question, and of the other steps in the
    /// answer. Algorithms without such hints have none.
    pub fn new(algorithm: &'static dyn AnyAlgorithm, format: Format, hints: bool) -> Formatter {
        let spec = Spec::from(algorithm.spec());
        Formatter { algorithm, format, hints, layout: Layout::new(algorithm, &spec), spec }
    }

    /// Formats a trajectory.
    pub fn format(&self, sample: Trajectory<'_>) -> Result<Example, FormatError> {
        self.format_prediction(sample, sample)
    }

    /// Formats the outputs, and hints if traces were asked for, that a model predicted for a sample.
    pub fn format_prediction(&self, sample: Trajectory<'_>, predicted: Trajectory<'_>) -> Result<Example, FormatError> {
        let (mut question, mut answer) = (Vec::new(), Vec::new());
        self.write_question(sample, &mut question)?;
        self.write_answer(sample, predicted, &mut answer)?;
        Ok(Example { question: into_string(question), answer: into_string(answer) })
    }

    /// Appends the question of a trajectory in UTF-8.
    pub fn write_question(&self, sample: Trajectory<'_>, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let layout = self.layout(sample);
        if layout.inputs.len() < self.layout.inputs.len() {
            return Err(FormatError::Missing(Stage::Input));
        }
        let writer = Writer::new(self, sample, sample, &layout)?;
        if self.format == Format::V1 { writer.named_question(out) } else { writer.question(out) }
    }

    /// Appends the answer of a trajectory in UTF-8. Inputs come from `sample`, outputs and hints from `answered`, which may be the same.
    pub fn write_answer(&self, sample: Trajectory<'_>, answered: Trajectory<'_>, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let layout = self.layout(answered);
        if sample.nodes() != answered.nodes() {
            return Err(FormatError::Nodes { sample: sample.nodes(), predicted: answered.nodes() });
        }
        let writer = Writer::new(self, sample, answered, &layout)?;
        if self.format == Format::V1 { writer.named_answer(out) } else { writer.answer(out) }
    }

    /// The layout of a trajectory, which may have other probes than its algorithm: older versions of the benchmark lack some, and
    /// predictions have no inputs.
    fn layout(&self, sample: Trajectory<'_>) -> Cow<'_, Layout> {
        // Recorded trajectories share the algorithm's declaration.
        if std::ptr::eq(sample.spec().as_ptr(), self.spec.as_ptr()) {
            Cow::Borrowed(&self.layout)
        } else {
            Cow::Owned(Layout::new(self.algorithm, sample.spec()))
        }
    }
}

/// Writes one trajectory.
struct Writer<'a> {
    formatter: &'a Formatter,
    sample: Trajectory<'a>,
    answered: Trajectory<'a>,
    layout: &'a Layout,
    /// Keys by node, where permutations are shown as keys.
    keys: Option<KeyTexts>,
}

impl<'a> Writer<'a> {
    fn new(
        formatter: &'a Formatter,
        sample: Trajectory<'a>,
        answered: Trajectory<'a>,
        layout: &'a Layout,
    ) -> Result<Writer<'a>, FormatError> {
        if layout.outputs.len() < formatter.layout.outputs.len() {
            return Err(FormatError::Missing(Stage::Output));
        }
        if formatter.hints && layout.trace.len() < formatter.layout.trace.len() {
            return Err(FormatError::Missing(Stage::Hint));
        }
        if formatter.hints && !layout.trace.is_empty() && answered.steps() == 0 {
            return Err(FormatError::NoSteps);
        }
        let mut writer = Writer { formatter, sample, answered, layout, keys: None };
        let is_permutation = |&output: &usize| answered.spec()[output].kind == Kind::Permutation;
        if formatter.format != Format::V1 && layout.outputs.iter().any(is_permutation) {
            writer.keys = formatter.layout(sample).key.map(|key| writer.key_texts(key));
        }
        Ok(writer)
    }

    fn key_texts(&self, key: usize) -> KeyTexts {
        let mut keys = KeyTexts::default();
        let Cells::Scalar(cells) = self.sample.cells(key) else { unreachable!("keys are scalars") };
        for &cell in cells {
            self.scalar(&self.sample.spec()[key], cell, &mut keys.text);
            keys.ends.push(keys.text.len());
        }
        keys
    }

    /// Hints of the trace; none if they were not asked for.
    fn trace(&self) -> &'a [Traced] {
        if self.formatter.hints { &self.layout.trace } else { &[] }
    }

    fn is_traced(&self) -> bool {
        !self.trace().is_empty()
    }

    fn question(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let spec = self.sample.spec();
        push(out, self.formatter.algorithm.name());
        out.extend(b":\n");
        separated(out, &self.layout.inputs, |out, &input| {
            push(out, &spec[input].name);
            out.extend(b": ");
            self.row(&spec[input], self.sample.cells(input), out);
            Ok(())
        })?;
        if self.is_traced() {
            out.extend(b", initial_trace: ");
            self.step(0, out)?;
        }
        out.push(b'\n');
        let names: Vec<usize> = if self.is_traced() && self.layout.is_trace_chosen {
            self.trace().iter().map(|traced| traced.hint).collect()
        } else {
            self.layout.outputs.clone()
        };
        if self.is_traced() {
            out.extend(b"trace | ");
        }
        self.parenthesized(out, |out| {
            separated(out, &names, |out, &index| {
                push(out, &spec[index].name);
                Ok(())
            })
        })?;
        out.extend(b":\n");
        Ok(())
    }

    /// The last hint is not shown: it is the output.
    fn answer(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let outputs = if self.is_traced() {
            let steps: Vec<usize> = (1..self.answered.steps() - 1).collect();
            separated(out, &steps, |out, &step| self.step(step, out))?;
            out.extend(b" | ");
            Cow::Owned(self.layout.traced_outputs())
        } else {
            Cow::Borrowed(&self.layout.outputs)
        };
        self.parenthesized(out, |out| {
            separated(out, &outputs, |out, &output| {
                let probe = &self.answered.spec()[output];
                self.shown(probe, self.answered.cells(output), probe.kind == Kind::Permutation, out)
            })
        })?;
        out.extend(b"\n\n");
        Ok(())
    }

    /// The hints of a step.
    fn step(&self, step: usize, out: &mut Vec<u8>) -> Result<(), FormatError> {
        self.parenthesized(out, |out| {
            separated(out, self.trace(), |out, traced| {
                let (probe, cells) = self.hint(traced, step);
                self.shown(probe, cells, traced.is_permutation, out)
            })
        })
    }

    fn hint(&self, traced: &Traced, step: usize) -> (&'a Probe, Cells<'a>) {
        let probe = &self.answered.spec()[traced.hint];
        let width = probe.width(self.answered.nodes());
        (probe, self.answered.cells(traced.hint).slice(step * width..(step + 1) * width))
    }

    fn parenthesized(
        &self,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        if !(self.is_traced() && self.layout.has_parentheses()) {
            return write(out);
        }
        out.push(b'(');
        write(out)?;
        out.push(b')');
        Ok(())
    }

    /// A row, or the keys in the order that it describes.
    fn shown(&self, probe: &Probe, cells: Cells<'_>, is_permutation: bool, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let (Some(keys), true, Cells::Node(predecessors)) = (&self.keys, is_permutation, cells) else {
            self.row(probe, cells, out);
            return Ok(());
        };
        let order = order(predecessors)
            .ok_or_else(|| FormatError::NotAPermutation { probe: probe.name.to_string(), format: self.formatter.format })?;
        out.push(b'[');
        for (position, &node) in order.iter().enumerate() {
            if position > 0 {
                out.push(b' ');
            }
            out.extend(keys.get(node));
        }
        out.push(b']');
        Ok(())
    }

    fn named_question(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let (spec, trace) = (self.sample.spec(), self.trace());
        let shown = self.layout.inputs.iter().chain(&self.layout.outputs).copied().chain(trace.iter().map(|traced| traced.hint));
        let mut names = shown.map(|index| &*spec[index].name).chain([self.formatter.algorithm.name()]);
        if let Some(name) = names.find(|name| !is_name(name)) {
            return Err(FormatError::Name(name.to_owned()));
        }
        push(out, Format::V1.name());
        out.push(b' ');
        push(out, self.formatter.algorithm.name());
        out.extend(b"\nnodes: ");
        push_index(out, self.sample.nodes());
        out.extend(b"\ninput:");
        for &input in &self.layout.inputs {
            self.named(&spec[input], self.sample.cells(input), out);
        }
        if self.is_traced() {
            out.extend(b"\ntrace:");
            for traced in trace {
                out.push(b' ');
                push(out, &spec[traced.hint].name);
            }
            out.push(b'\n');
            self.named_step(0, out);
        } else {
            out.push(b'\n');
        }
        out.extend(b"output:");
        for &output in &self.layout.outputs {
            out.push(b' ');
            push(out, &spec[output].name);
        }
        out.push(b'\n');
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "like the answers of other formats")]
    fn named_answer(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        if self.is_traced() {
            (1..self.answered.steps()).for_each(|step| self.named_step(step, out));
        }
        out.extend(b"output:");
        for &output in &self.layout.outputs {
            self.named(&self.answered.spec()[output], self.answered.cells(output), out);
        }
        out.push(b'\n');
        Ok(())
    }

    fn named_step(&self, step: usize, out: &mut Vec<u8>) {
        out.extend(b"step ");
        push_index(out, step);
        out.push(b':');
        for traced in self.trace() {
            let (probe, cells) = self.hint(traced, step);
            self.named(probe, cells, out);
        }
        out.push(b'\n');
    }

    fn named(&self, probe: &Probe, cells: Cells<'_>, out: &mut Vec<u8>) {
        out.push(b' ');
        push(out, &probe.name);
        out.push(b'=');
        self.row(probe, cells, out);
    }

    /// A row: a value, a list, or a matrix.
    fn row(&self, probe: &Probe, cells: Cells<'_>, out: &mut Vec<u8>) {
        let count = cells.count();
        match probe.location {
            _ if probe.kind == Kind::MaskOne => self.cells(probe, cells, out),
            Location::Graph => self.cells(probe, cells, out),
            Location::Node => self.list(probe, cells, out),
            Location::Edge => {
                let n = count.isqrt();
                out.push(b'[');
                for row in 0..n {
                    if row > 0 {
                        out.extend(if self.formatter.format == Format::V1 { b" ".as_slice() } else { b", " });
                    }
                    self.list(probe, cells.slice(row * n..(row + 1) * n), out);
                }
                out.push(b']');
            }
        }
    }

    fn list(&self, probe: &Probe, cells: Cells<'_>, out: &mut Vec<u8>) {
        out.push(b'[');
        self.cells(probe, cells, out);
        out.push(b']');
    }

    /// Cells, separated by spaces.
    fn cells(&self, probe: &Probe, cells: Cells<'_>, out: &mut Vec<u8>) {
        match cells {
            Cells::Scalar(cells) => spaced(out, cells, |out, &x| self.scalar(probe, x, out)),
            Cells::Node(cells) => spaced(out, cells, |out, &node| push_integer(out, node.into())),
            Cells::Class(cells) => spaced(out, cells, |out, &class| push_integer(out, class.into())),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "numbers that are no integers of 53 bits are shown as they are")]
    fn scalar(&self, probe: &Probe, x: f64, out: &mut Vec<u8>) {
        match self.formatter.format {
            Format::V2_0_1 => push_rounded(out, x, probe.location),
            _ if probe.dtype == DType::I64 && x == (x as i64) as f64 => push_integer(out, x as i64),
            _ => push_shortest(out, x),
        }
    }
}

/// Text that formatters wrote.
pub(crate) fn into_string(text: Vec<u8>) -> String {
    String::from_utf8(text).expect("names and digits")
}

/// Keys as text, by node.
#[derive(Default)]
struct KeyTexts {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl KeyTexts {
    fn get(&self, node: usize) -> &[u8] {
        let start = node.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        &self.text[Range { start, end: self.ends[node] }]
    }
}

/// The nodes in the order that predecessors describe: the first node is its own. `None` if they describe none.
fn order(predecessors: &[u32]) -> Option<Vec<usize>> {
    let n = predecessors.len();
    let mut successors = vec![n; n];
    let mut first = n;
    for (node, &predecessor) in predecessors.iter().enumerate() {
        let predecessor = predecessor as usize;
        if predecessor == node { first = node } else { *successors.get_mut(predecessor)? = node }
    }
    let mut order = Vec::with_capacity(n);
    while let Some(&next) = successors.get(first) {
        order.push(first);
        first = next;
    }
    // Another first node, another successor or a cycle leave nodes out. No node is visited twice: none has two predecessors.
    (order.len() == n && n > 0).then_some(order)
}

/// Whether text can have a name: it must be told apart from marks and spaces.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend(text.as_bytes());
}

fn push_index(out: &mut Vec<u8>, index: usize) {
    push_integer(out, i64::try_from(index).expect("an index of memory"));
}

fn spaced<T>(out: &mut Vec<u8>, items: &[T], mut push: impl FnMut(&mut Vec<u8>, &T)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        push(out, item);
    }
}

fn separated<T>(
    out: &mut Vec<u8>,
    items: &[T],
    mut write: impl FnMut(&mut Vec<u8>, &T) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.extend(b", ");
        }
        write(out, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_follows_predecessors_back_from_the_last_node() {
        assert_eq!(order(&[2, 3, 1, 3]), Some(vec![3, 1, 2, 0]));
        assert_eq!(order(&[0]), Some(vec![0]));
        assert_eq!(order(&[0, 0]), Some(vec![0, 1]));
        let none: [&[u32]; 6] = [&[], &[1, 0], &[0, 1], &[0, 0, 0], &[5, 0], &[1, 2, 1, 3]];
        assert!(none.into_iter().all(|predecessors| order(predecessors).is_none()));
    }
}
