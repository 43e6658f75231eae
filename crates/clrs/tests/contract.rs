//! The contract of every algorithm. It is tested for all algorithms of the registry, so that new ones are covered.

mod oracle;

use clrs::source::HEADINGS;
use clrs::{
    AnyAlgorithm, Cells, CheckError, Column, DType, Family, Kind, Location, Probe, RandomState, Registry, SamplerOptions, Spec,
    Stage,
};

const PROBLEMS: usize = 20;
const LARGEST: usize = 7;
/// Every algorithm accepts problems of this size and above; some accept smaller ones.
const MIN_SIZE: usize = 4;

/// Problems of all small sizes that the algorithm accepts.
fn problems(algorithm: &dyn AnyAlgorithm) -> Vec<String> {
    let mut random = RandomState::new(7);
    let mut problems = Vec::new();
    for size in (1..=LARGEST).cycle() {
        if problems.len() == PROBLEMS {
            break;
        }
        let sampled = algorithm.problem_buffer(size, &SamplerOptions::default()).and_then(|mut problems| {
            problems.draw(&mut random)?;
            problems.record(0, &mut algorithm.recorder())?;
            Ok(problems.json(0))
        });
        match sampled {
            Ok(problem) => problems.push(problem),
            Err(error) => assert!(size < MIN_SIZE, "{} at size {size}: {error}", algorithm.name()),
        }
    }
    problems
}

#[test]
fn specs_are_ordered_and_probes_are_described() {
    for algorithm in Registry::builtin().iter() {
        let (name, spec) = (algorithm.name(), algorithm.spec());
        assert_eq!(Spec::new(spec.to_vec()), Ok(Spec::from(spec)), "{name}: order and names");
        let pos = spec.iter().find(|probe| probe.name == "pos").expect("every algorithm has positions");
        assert_eq!((pos.stage, pos.location, pos.kind), (Stage::Input, Location::Node, Kind::Scalar));
        for probe in spec {
            assert!(!probe.description.is_empty(), "{name}: {} has no description", probe.name);
            assert!(probe.stage != Stage::Hint || probe.dtype == DType::F64, "{name}: {} is a hint and must be f64", probe.name);
            assert!(probe.stage != Stage::Output || probe.kind != Kind::Scalar, "{name}: {} cannot be scored", probe.name);
        }
        let is_hint = |traced: &&str| spec.iter().any(|probe| probe.name == *traced && probe.stage == Stage::Hint);
        assert!(algorithm.text_trace().iter().all(is_hint), "{name}: {:?} are not hints", algorithm.text_trace());
    }
}

#[test]
fn documentation_has_all_headings_in_order() {
    for algorithm in Registry::builtin().iter() {
        let doc = algorithm.source().doc();
        let headings: Vec<&str> = doc.lines().filter_map(|line| line.strip_prefix("# ")).collect();
        assert_eq!(headings, HEADINGS, "{}", algorithm.name());
        assert!(algorithm.source().body().contains("probes! {"), "{}: no code after the documentation", algorithm.name());
    }
}

#[test]
fn every_file_of_a_family_is_registered() {
    let mut on_disk = Vec::new();
    for family in Family::ALL {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/algorithms").join(family.name());
        for file in std::fs::read_dir(folder).expect("the family's folder") {
            let name = file.expect("readable").path().file_stem().expect("a name").to_string_lossy().into_owned();
            on_disk.push((family.name(), name));
        }
    }
    on_disk.retain(|(_, name)| name != "mod");
    on_disk.sort();
    let mut registered: Vec<_> =
        Registry::builtin().iter().map(|algorithm| (algorithm.family().name(), algorithm.name().to_owned())).collect();
    registered.sort_unstable();
    assert_eq!(on_disk, registered);
}

#[test]
fn recordings_are_complete_bounded_and_correct() {
    for algorithm in Registry::builtin().iter() {
        let (name, problems) = (algorithm.name(), problems(algorithm));
        let mut recorder = algorithm.recorder();
        for problem in &problems {
            algorithm.record_json(problem, &mut recorder).expect("sampled problems are valid");
        }
        assert_eq!(recorder.trajectories().len(), PROBLEMS);
        for (sample, problem) in recorder.trajectories().iter().zip(&problems) {
            let n = sample.nodes();
            assert!((1..=algorithm.max_steps(n)).contains(&sample.steps()), "{name}: {} steps on {problem}", sample.steps());
            for (probe, cells) in sample.iter() {
                let rows = if probe.stage == Stage::Hint { sample.steps() } else { 1 };
                let row = match (probe.location, probe.kind) {
                    (_, Kind::MaskOne) | (Location::Graph, _) => 1,
                    (Location::Node, _) => n,
                    (Location::Edge, _) => n * n,
                };
                assert_eq!(cells.count(), rows * row, "{name}: {} on {problem}", probe.name);
                assert!(in_range(cells, probe.kind, probe.masked, n), "{name}: {} on {problem}", probe.name);
            }
            let inputs = sample.stage(Stage::Input);
            let again = algorithm.problem_json(n, &inputs).expect("recorded inputs");
            assert_eq!(again, *problem, "{name}: the problem recovered from the inputs");
            let result = algorithm.check(n, &inputs, &sample.stage(Stage::Output));
            assert!(result.is_ok(), "{name}: check rejects the algorithm's output: {result:?} on {problem}");
        }
    }
}

/// A shared recorder and one that is cleared before each run record the same.
#[test]
fn samples_in_one_recorder_are_independent() {
    for algorithm in Registry::builtin().iter() {
        let (mut shared, mut cleared) = (algorithm.recorder(), algorithm.recorder());
        for (index, problem) in problems(algorithm).iter().enumerate() {
            cleared.clear();
            algorithm.record_json(problem, &mut shared).expect("a valid problem");
            algorithm.record_json(problem, &mut cleared).expect("a valid problem");
            let (last, only) = (shared.last().expect("a recorded sample"), cleared.last().expect("a recorded sample"));
            assert!(last.iter().eq(only.iter()), "{}: {problem}", algorithm.name());
            assert_eq!(shared.step_locations(index), cleared.step_locations(0));
        }
    }
}

/// Traces show the source line of each step.
#[test]
fn step_locations_are_lines_of_the_algorithms_file() {
    for algorithm in Registry::builtin().iter() {
        let mut recorder = algorithm.recorder();
        algorithm.record_json(&problems(algorithm)[LARGEST], &mut recorder).expect("a valid problem");
        assert!(!recorder.step_locations(0).is_empty());
        for location in recorder.step_locations(0) {
            assert!(location.file().ends_with(&format!("{}.rs", algorithm.name())), "{}: {location}", algorithm.name());
            let line = algorithm.source().line(location.line()).expect("a line of the file");
            assert!(line.contains("hint"), "{}: {location}: {line}", algorithm.name());
        }
    }
}

/// Outputs with a single changed cell are rejected unless the oracle accepts them.
#[test]
fn changed_outputs_are_rejected_unless_they_are_correct() {
    for algorithm in Registry::builtin().iter() {
        let name = algorithm.name();
        let (mut rejected, mut tried) = (0, 0);
        for problem in problems(algorithm) {
            let mut recorder = algorithm.recorder();
            algorithm.record_json(&problem, &mut recorder).expect("a valid problem");
            let sample = recorder.last().expect("a recorded sample");
            let output = sample.stage(Stage::Output);
            assert!(
                oracle::is_correct(name, &problem, &output),
                "{name}: the oracle rejects the algorithm's output for {problem}"
            );
            let probes: Vec<&Probe> = algorithm.spec().iter().filter(|probe| probe.stage == Stage::Output).collect();
            for (index, probe) in probes.into_iter().enumerate() {
                for changed in single_changes(output[index], probe, sample.nodes()) {
                    let mut output = output.clone();
                    output[index] = changed.cells();
                    let accepted = match algorithm.check(sample.nodes(), &sample.stage(Stage::Input), &output) {
                        Ok(()) => true,
                        Err(CheckError::Failed(_)) => false,
                        Err(malformed) => panic!("{name}: {malformed}"),
                    };
                    let correct = oracle::is_correct(name, &problem, &output);
                    assert_eq!(accepted, correct, "{name}: {output:?} for {problem}");
                    tried += 1;
                    rejected += usize::from(!accepted);
                }
            }
        }
        assert!(tried >= PROBLEMS && rejected > 10, "{name}: {rejected} of {tried} changed outputs were rejected");
    }
}

/// Wrong columns, numbers of nodes and numbers of columns are rejected as malformed. Positions may have any value.
#[test]
fn malformed_columns_are_rejected() {
    for algorithm in Registry::builtin().iter() {
        let mut recorder = algorithm.recorder();
        algorithm.record_json(&problems(algorithm)[LARGEST], &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let (n, inputs) = (sample.nodes(), sample.stage(Stage::Input));
        let all = [inputs.clone(), sample.stage(Stage::Output)].concat();
        let rejects = |n, cells: &[Cells<'_>]| {
            let (inputs, outputs) = cells.split_at(inputs.len());
            matches!(algorithm.check(n, inputs, outputs), Err(CheckError::Malformed(_)))
        };
        for length in [0, 1, n, n * n, n * n + 1] {
            let (scalars, nodes, classes) = (vec![f64::NAN; length], vec![u32::MAX; length], vec![i8::MIN; length]);
            for malformed in [Cells::Scalar(&scalars), Cells::Node(&nodes), Cells::Class(&classes)] {
                for (index, probe) in algorithm.spec()[..all.len()].iter().enumerate().filter(|(_, probe)| probe.name != "pos") {
                    let mut changed = all.clone();
                    changed[index] = malformed;
                    assert!(rejects(n, &changed), "{}: {malformed:?} as {}", algorithm.name(), probe.name);
                }
            }
        }
        assert!([0, n - 1, n + 1, usize::MAX].into_iter().all(|n| rejects(n, &all)), "{}: nodes", algorithm.name());
        assert!(rejects(n, &all[..inputs.len()]) && rejects(n, &all[1..]), "{}: too few columns", algorithm.name());
    }
}

fn single_changes(output: Cells<'_>, probe: &Probe, n: usize) -> Vec<Column> {
    fn changes<T: Copy + PartialEq>(cells: &[T], values: &[T]) -> Vec<Vec<T>> {
        let change = |(at, value)| {
            let mut changed = cells.to_vec();
            (std::mem::replace(&mut changed[at], value) != value).then_some(changed)
        };
        (0..cells.len()).flat_map(|at| values.iter().map(move |&value| (at, value))).filter_map(change).collect()
    }
    let classes = if let Kind::Categorical { classes } = probe.kind { classes } else { 2 };
    let classes: Vec<i8> = (if probe.masked { -1 } else { 0 }..i8::try_from(classes).expect("few classes")).collect();
    match output {
        Cells::Node(cells) => changes(cells, &(0..).take(n).collect::<Vec<u32>>()).into_iter().map(Column::Node).collect(),
        Cells::Class(cells) => changes(cells, &classes).into_iter().map(Column::Class).collect(),
        Cells::Scalar(_) => panic!("outputs are not scalars"),
    }
}

fn in_range(cells: Cells<'_>, kind: Kind, masked: bool, n: usize) -> bool {
    let classes = if let Kind::Categorical { classes } = kind { classes } else { 2 };
    match cells {
        Cells::Scalar(cells) => cells.iter().all(|x| x.is_finite()),
        Cells::Node(cells) => cells.iter().all(|&node| (node as usize) < n),
        Cells::Class(cells) => cells.iter().all(|&class| usize::try_from(class).map_or(masked && class == -1, |c| c < classes)),
    }
}
