//! Task scheduling (Lawler 1985)
//!
//! # Idea
//! Every task takes one unit of time. Considers the tasks in order of decreasing weight and appends each one to the schedule if
//! it then meets its deadline.
//!
//! # One step
//! One task is selected or skipped.
//!
//! # Number of steps
//! `n + 1`: the empty schedule, then one per task.
//!
//! # Textbook
//! CLRS 3rd ed., section 16.5.
//!
//! # Correctness
//! Any set of tasks that all meet their deadlines when scheduled by decreasing weight, and that cannot be extended: every other
//! task would be late after the selected tasks of equal or larger weight. Tasks of equal weight may be scheduled in any order.
//! If the weights are positive and distinct, this is the set of maximum total weight among all sets that meet their deadlines
//! when scheduled by decreasing weight.
//!
//! # Differences from dm-clrs
//! CLRS accepts a task if *some* order of the selected tasks meets all deadlines. dm-clrs never reorders, so it skips tasks
//! that the textbook selects: in two of three problems with 4 tasks, and in nearly all with 16. To produce the same data, this
//! implementation does the same, and `check` evaluates dm-clrs's problem, not the textbook's. dm-clrs sorts with an unstable
//! sort, so its order of equal weights is unspecified; here they are ordered by node. Deadlines below 1 are rejected.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::array::initial_predecessors;
use crate::cell::{Graph, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, Tasks, UniformTasks, ensure_valid, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Task scheduling; see the [module](self).
pub struct TaskScheduling;

probes! {
    TaskScheduling;
    input {
        /// position in the list of tasks, scaled to [0, 1)
        pos: Node<Scalar>,
        /// deadline: 1, 2, ...
        deadline as "d": Node<Scalar> as i64,
        /// penalty for missing the deadline
        weight as "w": Node<Scalar>,
    }
    output {
        /// whether the task is scheduled
        selected: Node<Mask>,
    }
    hint {
        /// predecessor in the list of tasks; the first node points to itself
        pred_h: Node<Pointer>,
        /// whether the task has been scheduled so far
        selected_h: Node<Mask>,
        /// task just considered
        i: Node<MaskOne>,
        /// number of tasks scheduled so far, which is the current time
        t: Graph<Scalar>,
    }
}

impl Algorithm for TaskScheduling {
    const NAME: &'static str = "task_scheduling";
    const SOURCE: Source = Source(include_str!("task_scheduling.rs"));
    const FAMILY: Family = Family::Greedy;
    const FIXED_ORDER: bool = true;
    type Problem = Tasks;
    type Distribution = UniformTasks;

    fn distribution() -> UniformTasks {
        UniformTasks::default()
    }

    fn input(Tasks { deadline, weight }: &Tasks) -> Input {
        let deadline: Vec<f64> = deadline.iter().copied().map(f64::from).collect();
        Input { pos: positions(weight.len()), deadline, weight: weight.clone() }
    }

    fn problem(input: &Input) -> Result<Tasks, InvalidProblem> {
        let deadline = input.deadline.iter().copied().map(deadline_from_input).collect::<Result<_, _>>()?;
        Ok(Tasks { deadline, weight: input.weight.clone() })
    }

    fn max_steps(n: usize) -> usize {
        n + 1
    }

    fn run(Tasks { deadline, weight }: &Tasks, hints: &mut Hints<'_, Self>) -> Output {
        let n = weight.len();
        let pred = initial_predecessors(n);
        let mut selected = vec![false; n];
        let mut t = 0;
        hints.push(Hint { pred_h: &pred, selected_h: &selected, i: 0, t: 0.0 });

        let mut by_weight: Vec<usize> = (0..n).collect();
        by_weight.sort_by(|&a, &b| weight[b].partial_cmp(&weight[a]).expect("finite"));
        for i in by_weight {
            if t < deadline[i] {
                selected[i] = true;
                t += 1;
            }
            hints.push(Hint { pred_h: &pred, selected_h: &selected, i, t: f64::from(t) });
        }
        Output { selected }
    }

    fn check(Tasks { deadline, weight }: &Tasks, Output { selected }: &Output) -> Result<(), CheckFailure> {
        let mut scheduled: Vec<usize> = (0..weight.len()).filter(|&task| selected[task]).collect();
        scheduled.sort_by(|&a, &b| (weight[b], deadline[a]).partial_cmp(&(weight[a], deadline[b])).expect("finite"));
        for (before, &task) in scheduled.iter().enumerate() {
            ensure(before < deadline[task] as usize, || {
                format!("task {task} finishes at time {}, after its deadline {}", before + 1, deadline[task])
            })?;
        }
        for task in (0..weight.len()).filter(|&task| !selected[task]) {
            let before = scheduled.partition_point(|&other| weight[other] >= weight[task]);
            ensure(before >= deadline[task] as usize, || {
                format!("task {task} is not selected, but would meet its deadline after {before} of the selected tasks")
            })?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer in range")]
fn deadline_from_input(deadline: f64) -> Result<u32, InvalidProblem> {
    let fits = (0.0..=f64::from(u32::MAX)).contains(&deadline) && deadline.fract() == 0.0;
    ensure_valid(fits, || "`d` has a value that is not an integer from 1 to 4294967295".into())?;
    Ok(deadline as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Figure 16.7 of the textbook, which selects all tasks but 4 and 5 (its 5 and 6) by scheduling tasks 1 and 3 earlier. In
    /// order of weight, task 3 is late.
    #[test]
    fn tasks_are_scheduled_by_decreasing_weight() {
        let problem = Tasks { deadline: vec![4, 2, 4, 3, 1, 4, 6], weight: vec![70., 60., 50., 40., 30., 20., 10.] };
        let mut recorder = Recorder::new::<TaskScheduling>();
        recorder.record::<TaskScheduling>(&problem).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("selected"), Some(Cells::Class(&[1, 1, 1, 0, 0, 1, 1])));
        assert_eq!(sample.get("t"), Some(Cells::Scalar(&[0., 1., 2., 3., 3., 3., 4., 5.])));
        let textbook = [true, true, true, true, false, false, true];
        assert_eq!(
            TaskScheduling::check(&problem, &Output { selected: textbook.into() }),
            Err(CheckFailure("task 3 finishes at time 4, after its deadline 3".into()))
        );
    }

    #[test]
    fn check_accepts_exactly_the_sets_for_any_order_of_equal_weights() {
        let problem = Tasks { deadline: vec![2, 1, 1, 2], weight: vec![5.0, 5.0, 5.0, 1.0] };
        let accepted = |set: &[usize]| {
            let selected = (0..4).map(|task| set.contains(&task)).collect();
            TaskScheduling::check(&problem, &Output { selected })
        };
        assert_eq!(accepted(&[0, 1]), Ok(()), "1 0 2 3");
        assert_eq!(accepted(&[0, 2]), Ok(()), "2 0 1 3");
        assert_eq!(accepted(&[0, 3]), Ok(()), "0 1 2 3");
        assert_eq!(
            accepted(&[1, 3]),
            Err(CheckFailure("task 0 is not selected, but would meet its deadline after 1 of the selected tasks".into()))
        );
        assert!(accepted(&[1, 2]).is_err() && accepted(&[0]).is_err() && accepted(&[]).is_err());
    }

    #[test]
    fn invalid_problems_are_rejected_with_a_reason() {
        use crate::AnyAlgorithm;
        let reason =
            |json| TaskScheduling.record_json(json, &mut TaskScheduling.recorder()).expect_err("an invalid problem").to_string();
        assert_eq!(reason(r#"{"deadline": [0], "weight": [1]}"#), "`deadline` has a 0; deadlines must be at least 1");
        assert_eq!(reason(r#"{"deadline": [1], "weight": []}"#), "`deadline` and `weight` have different lengths: 1 and 0");
        assert!(reason(r#"{"deadline": [1.5], "weight": [1]}"#).starts_with("not a problem of this algorithm"));
    }

    #[test]
    fn recovered_deadlines_must_be_integers() {
        use crate::AnyAlgorithm;
        for deadline in [0.5, -1.0, 1e10, f64::NAN] {
            let inputs = [Cells::Scalar(&[0.0]), Cells::Scalar(&[deadline]), Cells::Scalar(&[1.0])];
            let rejected = TaskScheduling.check(1, &inputs, &[Cells::Class(&[1])]).expect_err("not an integer");
            assert_eq!(rejected.to_string(), "`d` has a value that is not an integer from 1 to 4294967295");
        }
    }
}
