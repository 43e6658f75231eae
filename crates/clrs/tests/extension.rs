//! Another crate brings its own algorithm, with the kinds of cells that the built-in ones do not have.

use clrs::cell::{Categorical, Edge, Graph, Mask, Masked, Node, Pointer, Scalar};
use clrs::problems::{InvalidProblem, Keys, UniformKeys, positions};
use clrs::source::Source;
use clrs::{Algorithm, Cells, CheckError, CheckFailure, Family, Hints, Kind, Registry, Stage, probes};

/// Whether the first key is the largest, in one step.
struct LeadsAll;

probes! {
    LeadsAll;
    input {
        /// place in the array, from 0 to 1
        pos: Node<Scalar>,
        /// number to compare
        key: Node<Scalar>,
    }
    output {
        /// whether the first key is the largest
        leads as "return": Graph<Mask> as i64,
    }
    hint {
        /// the larger of two
        larger: Edge<Pointer>,
        /// below, equal or above; blank on the diagonal
        side: Edge<Masked<Categorical<4>>>,
        /// below, equal or above the first
        rank: Node<Categorical<3>>,
        /// at work or done
        phase: Graph<Categorical<2>>,
    }
}

impl Algorithm for LeadsAll {
    const NAME: &'static str = "leads_all";
    const SOURCE: Source = Source(include_str!("extension.rs"));
    const FAMILY: Family = Family::Searching;
    type Problem = Keys;
    type Distribution = UniformKeys;

    fn distribution() -> UniformKeys {
        UniformKeys::default()
    }

    fn input(Keys { key }: &Keys) -> Input {
        Input { pos: positions(key.len()), key: key.clone() }
    }

    fn problem(input: &Input) -> Result<Keys, InvalidProblem> {
        Ok(Keys { key: input.key.clone() })
    }

    fn max_steps(_: usize) -> usize {
        1
    }

    fn run(Keys { key }: &Keys, hints: &mut Hints<'_, Self>) -> Output {
        let n = key.len();
        let side = |u: usize, v: usize| usize::from(key[u] > key[v]) + usize::from(key[u] >= key[v]);
        let pairs = || (0..n * n).map(|cell| (cell / n, cell % n));
        hints.push(Hint {
            larger: &pairs().map(|(u, v)| if key[u] >= key[v] { u } else { v }).collect::<Vec<_>>(),
            side: &pairs().map(|(u, v)| (u != v).then(|| side(u, v))).collect::<Vec<_>>(),
            rank: &(0..n).map(|v| side(v, 0)).collect::<Vec<_>>(),
            phase: 1,
        });
        Output { leads: key.iter().all(|&other| other <= key[0]) }
    }

    fn check(Keys { key }: &Keys, output: &Output) -> Result<(), CheckFailure> {
        let largest = key.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if output.leads == (key[0] == largest) { Ok(()) } else { Err(CheckFailure(format!("the largest key is {largest}"))) }
    }
}

#[test]
fn an_algorithm_of_another_crate_is_found_run_and_checked() {
    let registry = Registry::builtin().with(&LeadsAll);
    let algorithm = registry.find("leads_all").expect("registered");
    let mut recorder = algorithm.recorder();
    algorithm.record_json(r#"{"key": [2, 1]}"#, &mut recorder).expect("valid");
    let run = recorder.last().expect("recorded");
    assert_eq!(run.get("larger"), Some(Cells::Node(&[0, 0, 0, 1])));
    assert_eq!(run.get("side"), Some(Cells::Class(&[-1, 2, 0, -1])));
    assert_eq!(run.get("rank"), Some(Cells::Class(&[1, 0])));
    let side = algorithm.spec().iter().find(|probe| probe.name == "side").expect("declared");
    assert_eq!((side.kind, side.masked), (Kind::Categorical { classes: 4 }, true));

    let verdict = |answer: &[i8]| algorithm.check(2, &run.stage(Stage::Input), &[Cells::Class(answer)]);
    assert!(verdict(&[1]).is_ok());
    assert!(matches!(verdict(&[0]), Err(CheckError::Failed(_))));
    assert!(matches!(verdict(&[-1]), Err(CheckError::Malformed(_))), "`return` is always asked");
    assert!(matches!(verdict(&[1, 1]), Err(CheckError::Malformed(_))));
}
