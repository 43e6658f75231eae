//! An algorithm of another crate, with cell types that the built-in algorithms do not have, in a family whose other members search
//! patterns.

use clrs::cell::{Categorical, Edge, Graph, Mask, Masked, Node, Pointer, Scalar};
use clrs::problems::{InvalidProblem, Keys, UniformKeys, positions};
use clrs::source::Source;
use clrs::{Algorithm, Cells, CheckError, CheckFailure, Family, Hints, Kind, Registry, Stage, probes, training};

/// Whether the first key is the largest, in one step.
struct LeadsAll;

probes! {
    LeadsAll;
    input {
        /// position in the array, from 0 to 1
        pos: Node<Scalar>,
        /// key to compare
        key: Node<Scalar>,
    }
    output {
        /// whether the first key is the largest
        leads as "return": Graph<Mask> as i64,
    }
    hint {
        /// the node with the larger key
        larger: Edge<Pointer>,
        /// less, equal or greater; blank on the diagonal
        side: Edge<Masked<Categorical<4>>>,
        /// less than, equal to or greater than the first key
        rank: Node<Categorical<3>>,
        /// running or done
        phase: Graph<Categorical<2>>,
    }
}

impl Algorithm for LeadsAll {
    const NAME: &'static str = "leads_all";
    const SOURCE: Source = Source(include_str!("extension.rs"));
    const FAMILY: Family = Family::Strings;
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
fn an_algorithm_of_another_crate_can_be_found_run_and_checked() {
    let registry = Registry::builtin().with(&LeadsAll);
    let algorithm = registry.find("leads_all").expect("registered");
    let mut recorder = algorithm.recorder();
    algorithm.record_json(r#"{"key": [2, 1]}"#, &mut recorder).expect("valid");
    let sample = recorder.last().expect("a recorded sample");
    assert_eq!(sample.get("larger"), Some(Cells::Node(&[0, 0, 0, 1])));
    assert_eq!(sample.get("side"), Some(Cells::Class(&[-1, 2, 0, -1])));
    assert_eq!(sample.get("rank"), Some(Cells::Class(&[1, 0])));
    let side = algorithm.spec().iter().find(|probe| probe.name == "side").expect("declared");
    assert_eq!((side.kind, side.masked), (Kind::Categorical { classes: 4 }, true));

    let check = |output: &[i8]| algorithm.check(2, &sample.stage(Stage::Input), &[Cells::Class(output)]);
    assert!(check(&[1]).is_ok());
    assert!(matches!(check(&[0]), Err(CheckError::Failed(_))));
    assert!(matches!(check(&[-1]), Err(CheckError::Malformed(_))), "`return` is never masked out");
    assert!(matches!(check(&[1, 1]), Err(CheckError::Malformed(_))));
}

#[test]
fn training_sizes_depend_on_the_options_of_an_algorithm_not_on_its_family() {
    let registry = Registry::builtin().with(&LeadsAll);
    let find = |name| registry.find(name).expect("registered");
    assert_eq!(find("leads_all").family(), find("kmp_matcher").family());
    assert_eq!(training::sizes(find("kmp_matcher"), &[4, 16]), [20]);
    assert_eq!(training::sizes(find("leads_all"), &[4, 16]), [4, 16]);
    assert_eq!(training::sampler_options(find("leads_all"), &[0.5]).iter().count(), 0);
}
