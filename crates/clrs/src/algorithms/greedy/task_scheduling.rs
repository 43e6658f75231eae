//! Task scheduling (Lawler 1985)
//!
//! # Idea
//! Every task takes one unit of time. Goes through the tasks by falling weight, and does each right behind those already taken,
//! if it will be done by its deadline then.
//!
//! # One step
//! One task is taken or passed by.
//!
//! # Steps
//! `n + 1`: nothing is selected, then one per task.
//!
//! # Textbook
//! CLRS 3rd ed., section 16.5.
//!
//! # What counts as right
//! Any set of tasks that are all early when they are done by falling weight, and to which no other can be added: a task left out
//! would be late behind the selected ones that weigh at least as much. Tasks of equal weight may be done in any order. Where
//! weights differ and are above 0, this is the heaviest of all sets that can be done by falling weight.
//!
//! # Differences
//! The book asks whether the tasks taken can all be early in *any* order: a task taken later may be done sooner. The reference
//! never changes the order, so it leaves out tasks that the book takes: in two of three problems of 4 tasks, in nearly all of
//! 16. Its data is what networks learn, so ours does the same, and `check` judges that problem and not the book's. The reference
//! leaves the order of equal weights to chance; here they come in the order of their nodes. A deadline must be 1 or more.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::array::as_given;
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
        /// place in the list of tasks, from 0 to 1
        pos: Node<Scalar>,
        /// by when the task should be done: 1, 2, ..
        deadline as "d": Node<Scalar> as i64,
        /// what the task is worth
        weight as "w": Node<Scalar>,
    }
    output {
        /// whether the task is done
        selected: Node<Mask>,
    }
    hint {
        /// predecessor in the list of tasks
        pred_h: Node<Pointer>,
        /// whether the task has been taken
        selected_h: Node<Mask>,
        /// task just looked at
        i: Node<MaskOne>,
        /// number of tasks taken, which is the time when they are done
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
        let pred = as_given(n);
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
        let mut taken: Vec<usize> = (0..weight.len()).filter(|&task| selected[task]).collect();
        taken.sort_by(|&a, &b| (weight[b], deadline[a]).partial_cmp(&(weight[a], deadline[b])).expect("finite"));
        for (before, &task) in taken.iter().enumerate() {
            ensure(before < deadline[task] as usize, || {
                format!("task {task} is late: {before} others come first, and its deadline is {}", deadline[task])
            })?;
        }
        for task in (0..weight.len()).filter(|&task| !selected[task]) {
            let before = taken.partition_point(|&other| weight[other] >= weight[task]);
            ensure(before >= deadline[task] as usize, || {
                format!("task {task} is left out, but behind {before} others it would be early")
            })?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer in range")]
fn deadline_from_input(deadline: f64) -> Result<u32, InvalidProblem> {
    let fits = (0.0..=f64::from(u32::MAX)).contains(&deadline) && deadline.fract() == 0.0;
    ensure_valid(fits, || "`d` has a number that is not 1, 2, .. 4294967295".into())?;
    Ok(deadline as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Figure 16.7 of the textbook. The book's answer is all but tasks 4 and 5 (its 5 and 6): it would do task 1 and then task 3
    /// sooner. In the order of weights, task 3 is late.
    #[test]
    fn the_order_of_weights_is_never_changed() {
        let problem = Tasks { deadline: vec![4, 2, 4, 3, 1, 4, 6], weight: vec![70., 60., 50., 40., 30., 20., 10.] };
        let mut recorder = Recorder::new::<TaskScheduling>();
        recorder.record::<TaskScheduling>(&problem).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("selected"), Some(Cells::Class(&[1, 1, 1, 0, 0, 1, 1])));
        assert_eq!(sample.get("t"), Some(Cells::Scalar(&[0., 1., 2., 3., 3., 3., 4., 5.])));
        let books = [true, true, true, true, false, false, true];
        assert_eq!(
            TaskScheduling::check(&problem, &Output { selected: books.into() }),
            Err(CheckFailure("task 3 is late: 3 others come first, and its deadline is 3".into()))
        );
    }

    #[test]
    fn check_accepts_what_any_order_of_equal_weights_gives_and_nothing_else() {
        let problem = Tasks { deadline: vec![2, 1, 1, 2], weight: vec![5.0, 5.0, 5.0, 1.0] };
        let accepted = |set: &[usize]| {
            let selected = (0..4).map(|task| set.contains(&task)).collect();
            TaskScheduling::check(&problem, &Output { selected })
        };
        assert_eq!(accepted(&[0, 1]), Ok(()), "1 0 2 3");
        assert_eq!(accepted(&[0, 2]), Ok(()), "2 0 1 3");
        assert_eq!(accepted(&[0, 3]), Ok(()), "0 1 2 3");
        assert_eq!(accepted(&[1, 3]), Err(CheckFailure("task 0 is left out, but behind 1 others it would be early".into())));
        assert!(accepted(&[1, 2]).is_err() && accepted(&[0]).is_err() && accepted(&[]).is_err());
    }

    #[test]
    fn invalid_problems_are_rejected_with_a_reason() {
        use crate::AnyAlgorithm;
        let reason =
            |json| TaskScheduling.record_json(json, &mut TaskScheduling.recorder()).expect_err("an invalid problem").to_string();
        assert_eq!(reason(r#"{"deadline": [0], "weight": [1]}"#), "`deadline` has a 0; deadlines start at 1");
        assert_eq!(reason(r#"{"deadline": [1], "weight": []}"#), "`deadline` has 1 values, `weight` has 0");
        assert!(reason(r#"{"deadline": [1.5], "weight": [1]}"#).starts_with("not a problem of this algorithm"));
    }

    #[test]
    fn recovered_deadlines_must_be_integers() {
        use crate::AnyAlgorithm;
        for deadline in [0.5, -1.0, 1e10, f64::NAN] {
            let inputs = [Cells::Scalar(&[0.0]), Cells::Scalar(&[deadline]), Cells::Scalar(&[1.0])];
            let rejected = TaskScheduling.check(1, &inputs, &[Cells::Class(&[1])]).expect_err("not whole");
            assert_eq!(rejected.to_string(), "`d` has a number that is not 1, 2, .. 4294967295");
        }
    }
}
