//! Predicted trajectories: the decisions of a network at every step, in the form of a recorded trajectory.

use clrs::{AnyAlgorithm, ArrayData, Cells, Column, Kind, Probe, Spec, Stage, Trace, Trajectories, Trajectory};
use clrs_kernels::{Isa, sinkhorn};

use super::metrics::EvalError;
use super::predictions::{write, zeros};
use crate::data::batch::ModelBatch;
use crate::exec::tensor::Tensor;
use crate::model::feedback::SINKHORN_SCORED;
use crate::model::network::ProbeLogits;
use crate::model::rollout::StepView;

/// The predicted trajectory of one sample.
///
/// Its first hint row is the true one, which the network is given; the others are predicted. The spec has the outputs of the algorithm
/// and the hints that the network predicts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PredictedTrajectory {
    /// Index of the sample in its set.
    pub sample: usize,
    /// Hard-decoded outputs and hints: a single trajectory.
    pub predicted: Trajectories,
    /// For every probe of the spec, the probabilities of each row; see [`clrs::trace::Prediction::probabilities`]. `None` for scalars. Those of
    /// a permutation belong to its cyclic form, in which the first node points to the last.
    pub probabilities: Vec<Option<Vec<Vec<f64>>>>,
}

impl PredictedTrajectory {
    /// The prediction beside the truth, as one document.
    pub fn trace(&self, algorithm: &dyn AnyAlgorithm, truth: Trajectory<'_>) -> Result<Trace, EvalError> {
        let problem = algorithm.problem_json(truth.nodes(), &truth.stage(Stage::Input));
        let trace = problem.and_then(|problem| Trace::record(algorithm, &problem));
        let trace = trace.map_err(|error| {
            EvalError::Data(crate::data::error::DataError::Sample { algorithm: algorithm.name().into(), source: error.into() })
        })?;
        Ok(trace.with_predictions(self.predicted.get(0), self.probabilities.clone()))
    }

    /// The first step, counted from 0, whose decisions differ from the truth; the number of steps of the truth if only its outputs
    /// do, and `None` if all decisions are right. Scalars are not decisions. Steps that only one of the two has are not compared.
    pub fn first_error(&self, truth: Trajectory<'_>) -> Option<usize> {
        let predicted = self.predicted.get(0);
        let steps = predicted.steps().min(truth.steps());
        let compare = |(probe, decided): (&Probe, Cells<'_>)| {
            let recorded = truth.get(&probe.name)?;
            let width = probe.width(truth.nodes());
            let at = match probe.stage {
                Stage::Hint => (0..steps).find(|&step| differ(decided, recorded, step * width..(step + 1) * width)),
                _ => differ(decided, recorded, 0..width).then(|| truth.steps()),
            };
            at.filter(|_| probe.kind != Kind::Scalar)
        };
        predicted.iter().filter_map(compare).min()
    }
}

/// Whether some decisions differ from what was recorded. Cells that are masked out have no truth.
fn differ(decided: Cells<'_>, recorded: Cells<'_>, range: std::ops::Range<usize>) -> bool {
    match (decided.slice(range.clone()), recorded.slice(range)) {
        (Cells::Class(decided), Cells::Class(recorded)) => decided.iter().zip(recorded).any(|(a, b)| a != b && *b >= 0),
        (decided, recorded) => decided != recorded,
    }
}

/// Collects the predicted hints of some samples of a batch.
pub(super) struct TrajectoryObserver<'o> {
    batch: &'o ModelBatch,
    /// Positions of the chosen samples in the dense batch.
    chosen: Vec<usize>,
    /// By chosen sample and hint: decided rows and probabilities of every step taken.
    rows: Vec<Vec<HintRows>>,
    error: Option<EvalError>,
}

/// Decided rows and probabilities of one hint of one sample.
#[derive(Clone, Default)]
struct HintRows {
    index: usize,
    values: Vec<f64>,
    probabilities: Vec<Vec<f64>>,
}

impl<'o> TrajectoryObserver<'o> {
    pub(super) fn new(batch: &'o ModelBatch, chosen: Vec<usize>) -> TrajectoryObserver<'o> {
        let rows = vec![Vec::new(); chosen.len()];
        TrajectoryObserver { batch, chosen, rows, error: None }
    }

    pub(super) fn observe(&mut self, view: &StepView<'_>) {
        for (hint, (index, logits)) in view.hints.iter().enumerate() {
            let probe = &self.batch.spec()[*index];
            let mut array = zeros(probe, self.batch);
            let order = |sample: &usize| self.batch.order()[*sample];
            if let Err(error) = write(probe, self.batch.nodes(), logits.clone(), view.active.iter().map(order), &mut array) {
                self.error.get_or_insert(error);
                return;
            }
            let ArrayData::F64(values) = &array.data else { unreachable!("`zeros` creates f64 arrays") };
            let width = values.len() / array.shape[0];
            let probabilities = Probabilities::new(probe, logits);
            for (chosen, rows) in self.chosen.iter().zip(&mut self.rows) {
                let Some(position) = view.active.iter().position(|sample| order(sample) == *chosen) else { continue };
                if rows.len() <= hint {
                    rows.push(HintRows { index: *index, ..HintRows::default() });
                }
                rows[hint].values.extend(&values[chosen * width..][..width]);
                rows[hint].probabilities.extend(probabilities.as_ref().map(|all| all.of(position)));
            }
        }
    }

    /// The predicted trajectories of the chosen samples, from their true trajectories, indices in the set, decoded outputs and
    /// output logits.
    pub(super) fn finish(
        self,
        samples: &[(usize, Trajectory<'_>)],
        outputs: &[Vec<Column>],
        logits: &ProbeLogits,
    ) -> Result<Vec<PredictedTrajectory>, EvalError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let (batch, chosen) = (self.batch, self.chosen);
        let output_probabilities: Vec<(&Probe, Option<Probabilities>)> = logits
            .iter()
            .map(|(index, logits)| (&batch.spec()[*index], Probabilities::new(&batch.spec()[*index], logits)))
            .collect();
        let mut trajectories = Vec::with_capacity(samples.len());
        for (((dense, rows), (sample, truth)), outputs) in chosen.into_iter().zip(self.rows).zip(samples).zip(outputs) {
            let position = batch.order().iter().position(|order| *order == dense).expect("a sample of the batch");
            let steps = rows.first().map_or(1, |hint| 1 + hint.values.len() / hint.width(batch));
            let (mut probes, mut columns, mut probabilities) = (Vec::new(), Vec::new(), Vec::new());
            let true_outputs = truth.spec().iter().filter(|probe| probe.stage == Stage::Output);
            for (probe, column) in true_outputs.zip(outputs) {
                probes.push(probe.clone());
                columns.push(column.clone());
                let found = output_probabilities.iter().find(|(of, _)| of.name == probe.name);
                probabilities.push(found.and_then(|(_, all)| Some(vec![all.as_ref()?.of(position)])));
            }
            for hint in rows {
                let probe = &batch.spec()[hint.index];
                let first = truth.get(&probe.name).expect("a hint of the recorded samples").slice(0..probe.width(truth.nodes()));
                let mut column = first.to_column();
                extend(&mut column, probe.kind, &hint.values, truth.nodes());
                probes.push(probe.clone());
                columns.push(column);
                // The first row is given.
                let has_any = !hint.probabilities.is_empty();
                probabilities.push(has_any.then(|| std::iter::once(Vec::new()).chain(hint.probabilities).collect()));
            }
            let mut predicted = Trajectories::new(Spec::new(probes).expect("names are unique"));
            let cells: Vec<Cells<'_>> = columns.iter().map(Column::cells).collect();
            predicted.push(truth.nodes(), steps, &cells).expect("decisions have the types of their probes");
            trajectories.push(PredictedTrajectory { sample: *sample, predicted, probabilities });
        }
        Ok(trajectories)
    }
}

impl HintRows {
    fn width(&self, batch: &ModelBatch) -> usize {
        let probe = &batch.spec()[self.index];
        clrs::batch::row_shape(probe, batch.nodes()).iter().product()
    }
}

/// Appends dense decisions to a column.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "nodes and classes, stored as floats")]
fn extend(column: &mut Column, kind: Kind, values: &[f64], nodes: usize) {
    let one_hot = |classes: usize| values.chunks_exact(classes).map(|row| row.iter().position(|x| *x == 1.0).unwrap_or(0));
    match (column, kind) {
        (Column::Scalar(column), _) => column.extend(values),
        (Column::Node(column), Kind::MaskOne | Kind::CyclicPermutation) => column.extend(one_hot(nodes).map(|node| node as u32)),
        (Column::Node(column), _) => column.extend(values.iter().map(|node| *node as u32)),
        (Column::Class(column), Kind::Categorical { classes }) => column.extend(one_hot(classes).map(|class| class as i8)),
        (Column::Class(column), _) => column.extend(values.iter().map(|class| *class as i8)),
    }
}

/// Probabilities of the values of a probe, for all active samples.
struct Probabilities {
    values: Vec<f64>,
    /// Values per sample.
    width: usize,
}

impl Probabilities {
    /// `None` for scalars.
    fn new(probe: &Probe, logits: &Tensor<3>) -> Option<Probabilities> {
        let [_, rows, classes] = logits.dims();
        let mut logits = logits.clone().into_vec();
        let values = match probe.kind {
            Kind::Scalar => return None,
            Kind::Mask => logits.iter().map(|&x| 1.0 / (1.0 + f64::from(-x).exp())).collect(),
            Kind::Permutation | Kind::CyclicPermutation => {
                for logits in logits.chunks_exact_mut(rows * classes) {
                    sinkhorn::forward(Isa::best(), classes, logits, SINKHORN_SCORED, None);
                }
                logits.iter().map(|&x| f64::from(x).exp()).collect()
            }
            Kind::MaskOne | Kind::Categorical { .. } | Kind::Pointer => logits.chunks_exact(classes).flat_map(softmax).collect(),
        };
        Some(Probabilities { values, width: rows * classes })
    }

    fn of(&self, position: usize) -> Vec<f64> {
        self.values[position * self.width..][..self.width].to_vec()
    }
}

fn softmax(row: &[f32]) -> Vec<f64> {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exponentials: Vec<f64> = row.iter().map(|&x| f64::from(x - max).exp()).collect();
    let sum: f64 = exponentials.iter().sum();
    exponentials.into_iter().map(|x| x / sum).collect()
}
