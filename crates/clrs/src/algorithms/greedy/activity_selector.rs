//! Activity selection (Gavril 1972)
//!
//! # Idea
//! Considers the activities in order of finish time and selects each one that does not start before the last selected one has
//! finished. The activity that finishes first leaves the most time for the others.
//!
//! # One step
//! One activity is selected or skipped.
//!
//! # Number of steps
//! `n + 1`: the empty selection, then one per activity.
//!
//! # Textbook
//! CLRS 3rd ed., section 16.1.
//!
//! # Correctness
//! Any largest set of activities that do not overlap. An activity may start at the moment when another finishes, and an
//! activity of length 0 overlaps only those that it lies strictly inside.
//!
//! # Differences from dm-clrs
//! dm-clrs sorts with an unstable sort, so its order of equal finish times is unspecified. Here they are ordered by node,
//! except that activities of length 0 come last: they still fit after another activity that finishes at that time, but would
//! exclude it if they came before. The benchmark contains neither case unless `truncate_decimals` is set. An activity that
//! finishes before it starts is rejected.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::array::initial_predecessors;
use crate::cell::{Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Activities, InvalidProblem, UniformActivities, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Activity selection; see the [module](self).
pub struct ActivitySelector;

probes! {
    ActivitySelector;
    input {
        /// position in the list of activities, scaled to [0, 1)
        pos: Node<Scalar>,
        /// start time
        start as "s": Node<Scalar>,
        /// finish time
        finish as "f": Node<Scalar>,
    }
    output {
        /// whether the activity is selected
        selected: Node<Mask>,
    }
    hint {
        /// predecessor in the list of activities; the first node points to itself
        pred_h: Node<Pointer>,
        /// whether the activity has been selected so far
        selected_h: Node<Mask>,
        /// activity just considered
        m: Node<MaskOne>,
        /// activity selected last
        k: Node<MaskOne>,
    }
}

impl Algorithm for ActivitySelector {
    const NAME: &'static str = "activity_selector";
    const SOURCE: Source = Source(include_str!("activity_selector.rs"));
    const FAMILY: Family = Family::Greedy;
    const FIXED_ORDER: bool = true;
    type Problem = Activities;
    type Distribution = UniformActivities;

    fn distribution() -> UniformActivities {
        UniformActivities::default()
    }

    fn input(Activities { start, finish }: &Activities) -> Input {
        Input { pos: positions(start.len()), start: start.clone(), finish: finish.clone() }
    }

    fn problem(input: &Input) -> Result<Activities, InvalidProblem> {
        Ok(Activities { start: input.start.clone(), finish: input.finish.clone() })
    }

    fn max_steps(n: usize) -> usize {
        n + 1
    }

    fn run(Activities { start, finish }: &Activities, hints: &mut Hints<'_, Self>) -> Output {
        let n = start.len();
        let pred = initial_predecessors(n);
        let mut selected = vec![false; n];
        hints.push(Hint { pred_h: &pred, selected_h: &selected, m: 0, k: 0 });

        let mut by_finish: Vec<usize> = (0..n).collect();
        by_finish.sort_by(|&a, &b| {
            let is_instant = |activity: usize| start[activity] == finish[activity];
            finish[a].partial_cmp(&finish[b]).expect("finite").then(is_instant(a).cmp(&is_instant(b)))
        });
        let mut k = by_finish[0];
        for &m in &by_finish {
            if m == by_finish[0] || start[m] >= finish[k] {
                selected[m] = true;
                k = m;
            }
            hints.push(Hint { pred_h: &pred, selected_h: &selected, m, k });
        }
        Output { selected }
    }

    fn check(Activities { start, finish }: &Activities, Output { selected }: &Output) -> Result<(), CheckFailure> {
        // The same greedy choice in reverse time: the activity that starts last leaves the most time for the others.
        let mut by_start: Vec<usize> = (0..start.len()).collect();
        by_start.sort_by(|&a, &b| (start[b], finish[b]).partial_cmp(&(start[a], finish[a])).expect("finite"));

        let (mut maximum, mut earliest) = (0, f64::INFINITY);
        for &m in &by_start {
            if finish[m] <= earliest {
                maximum += 1;
                earliest = start[m];
            }
        }
        let chosen: Vec<usize> = by_start.into_iter().filter(|&m| selected[m]).collect();
        for pair in chosen.windows(2) {
            let (later, earlier) = (pair[0], pair[1]);
            ensure(finish[earlier] <= start[later], || format!("activities {earlier} and {later} overlap"))?;
        }
        ensure(chosen.len() == maximum, || format!("{} activities are selected, but the maximum is {maximum}", chosen.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Section 16.1 of the textbook, which gives two largest sets and counts activities from 1.
    #[test]
    fn selects_the_set_of_the_textbook_and_check_accepts_the_other_largest_set() {
        let problem = Activities {
            start: vec![1., 3., 0., 5., 3., 5., 6., 8., 8., 2., 12.],
            finish: vec![4., 5., 6., 7., 9., 9., 10., 11., 12., 14., 16.],
        };
        let mut recorder = Recorder::new::<ActivitySelector>();
        recorder.record::<ActivitySelector>(&problem).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("selected"), Some(Cells::Class(&[1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1])));
        assert_eq!(sample.get("k"), Some(Cells::Node(&[0, 0, 0, 0, 3, 3, 3, 3, 7, 7, 7, 10])));

        let result = |set: &[usize]| {
            let selected = (1..=11).map(|activity| set.contains(&activity)).collect();
            ActivitySelector::check(&problem, &Output { selected })
        };
        assert_eq!(result(&[1, 4, 8, 11]), Ok(()));
        assert_eq!(result(&[2, 4, 9, 11]), Ok(()));
        assert_eq!(result(&[3, 9, 11]), Err(CheckFailure("3 activities are selected, but the maximum is 4".into())));
        assert_eq!(result(&[1, 2, 4, 8, 11]), Err(CheckFailure("activities 0 and 1 overlap".into())));
    }

    /// All sets of four activities with times on a small grid: compares every subset with brute force.
    #[test]
    fn activities_of_length_zero_and_equal_finish_times_are_solved() {
        const SPANS: [(f64, f64); 6] = [(0., 0.), (0., 1.), (1., 1.), (1., 2.), (0., 2.), (2., 2.)];
        let mut recorder = Recorder::new::<ActivitySelector>();
        for code in 0..SPANS.len().pow(4) {
            let (start, finish) = (0..4).map(|index| SPANS[code / SPANS.len().pow(index) % SPANS.len()]).unzip();
            let problem = Activities { start, finish };
            let Activities { start, finish } = &problem;
            let overlap = |a: usize, b: usize| finish[a] > start[b] && finish[b] > start[a];
            let fits = |set: &[bool]| (0..4).all(|a| (0..a).all(|b| !(set[a] && set[b] && overlap(a, b))));
            let size = |set: &[bool]| set.iter().filter(|selected| **selected).count();

            let sets: Vec<[bool; 4]> = (0..16).map(|bits| [1, 2, 4, 8].map(|bit| bits & bit != 0)).collect();
            let maximum = sets.iter().filter(|set| fits(*set)).map(|set| size(set)).max();
            for set in sets {
                let accepted = ActivitySelector::check(&problem, &Output { selected: set.into() }).is_ok();
                assert_eq!(accepted, fits(&set) && Some(size(&set)) == maximum, "{set:?} of {problem:?}");
            }
            recorder.record::<ActivitySelector>(&problem).expect("a valid problem");
            let Some(Cells::Class(selected)) = recorder.last().and_then(|sample| sample.get("selected")) else {
                panic!("`selected` is a mask")
            };
            let selected = selected.iter().map(|&selected| selected == 1).collect();
            assert_eq!(ActivitySelector::check(&problem, &Output { selected }), Ok(()), "{problem:?}");
        }
    }

    #[test]
    fn invalid_problems_are_rejected_with_a_reason() {
        use crate::AnyAlgorithm;
        let reason = |json| {
            ActivitySelector.record_json(json, &mut ActivitySelector.recorder()).expect_err("an invalid problem").to_string()
        };
        assert_eq!(reason(r#"{"start": [0, 2], "finish": [1, 1]}"#), "activity 1 finishes before it starts");
        assert_eq!(reason(r#"{"start": [0, 2], "finish": [1]}"#), "`start` and `finish` have different lengths: 2 and 1");
    }
}
