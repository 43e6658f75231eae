//! What every algorithm promises, checked for every one that is listed: a new one is tested the moment it is.

mod oracle;

use clrs::sampling::ProblemBuffer;
use clrs::source::HEADINGS;
use clrs::{
    AnyAlgorithm, Cells, CheckError, Column, DType, Family, Kind, Location, Probe, RandomState, Registry, SamplerOptions, Spec,
    Stage,
};

const PROBLEMS: usize = 20;
const LARGEST: usize = 7;
/// Every algorithm takes problems of this size and above; some take smaller ones.
const ALL_ADMIT: usize = 4;

/// Problems of all small sizes that the algorithm admits.
fn problems(algorithm: &dyn AnyAlgorithm) -> Vec<String> {
    let mut random = RandomState::new(7);
    let mut problems = Vec::new();
    for size in (1..=LARGEST).cycle() {
        if problems.len() == PROBLEMS {
            break;
        }
        let drawn = algorithm.problem_buffer(size, &SamplerOptions::default()).and_then(|mut draws: Box<dyn ProblemBuffer>| {
            draws.draw(&mut random)?;
            draws.record(0, &mut algorithm.recorder())?;
            Ok(draws.json(0))
        });
        match drawn {
            Ok(problem) => problems.push(problem),
            Err(error) => assert!(size < ALL_ADMIT, "{} at size {size}: {error}", algorithm.name()),
        }
    }
    problems
}

#[test]
fn specs_are_in_order_and_say_what_each_probe_means() {
    for algorithm in Registry::builtin().iter() {
        let (name, spec) = (algorithm.name(), algorithm.spec());
        assert_eq!(Spec::new(spec.to_vec()), Ok(Spec::from(spec)), "{name}: order and names");
        let pos = spec.iter().find(|probe| probe.name == "pos").expect("every algorithm has positions");
        assert_eq!((pos.stage, pos.location, pos.kind), (Stage::Input, Location::Node, Kind::Scalar));
        for probe in spec {
            assert!(!probe.description.is_empty(), "{name}: {} has no meaning", probe.name);
            assert!(probe.stage != Stage::Hint || probe.dtype == DType::F64, "{name}: {} is a hint", probe.name);
            assert!(probe.stage != Stage::Output || probe.kind != Kind::Scalar, "{name}: {} cannot be scored", probe.name);
        }
    }
}

#[test]
fn documentation_has_every_heading_in_order() {
    for algorithm in Registry::builtin().iter() {
        let doc = algorithm.source().doc();
        let headings: Vec<&str> = doc.lines().filter_map(|line| line.strip_prefix("# ")).collect();
        assert_eq!(headings, HEADINGS, "{}", algorithm.name());
        assert!(algorithm.source().body().contains("probes! {"), "{}: the code follows the head", algorithm.name());
    }
}

#[test]
fn every_file_of_a_family_is_listed() {
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
    let mut listed: Vec<_> =
        Registry::builtin().iter().map(|algorithm| (algorithm.family().name(), algorithm.name().to_owned())).collect();
    listed.sort_unstable();
    assert_eq!(on_disk, listed);
}

#[test]
fn runs_are_whole_end_in_time_and_are_right() {
    for algorithm in Registry::builtin().iter() {
        let (name, problems) = (algorithm.name(), problems(algorithm));
        let mut recorder = algorithm.recorder();
        for problem in &problems {
            algorithm.record_json(problem, &mut recorder).expect("drawn problems are admitted");
        }
        assert_eq!(recorder.trajectories().len(), PROBLEMS);
        for (run, problem) in recorder.trajectories().iter().zip(&problems) {
            let n = run.nodes();
            assert!((1..=algorithm.max_steps(n)).contains(&run.steps()), "{name}: {} steps on {problem}", run.steps());
            for (probe, cells) in run.iter() {
                let rows = if probe.stage == Stage::Hint { run.steps() } else { 1 };
                let row = match (probe.location, probe.kind) {
                    (_, Kind::MaskOne) | (Location::Graph, _) => 1,
                    (Location::Node, _) => n,
                    (Location::Edge, _) => n * n,
                };
                assert_eq!(cells.count(), rows * row, "{name}: {} on {problem}", probe.name);
                assert!(in_range(cells, probe.kind, probe.masked, n), "{name}: {} on {problem}", probe.name);
            }
            let inputs = run.stage(Stage::Input);
            let again = algorithm.problem_json(n, &inputs).expect("its own inputs");
            assert_eq!(again, *problem, "{name}: inputs give the problem back");
            let verdict = algorithm.check(n, &inputs, &run.stage(Stage::Output));
            assert!(verdict.is_ok(), "{name}: its own answer is refused: {verdict:?} on {problem}");
        }
    }
}

/// One run after another, or each in a recorder of its own, or in one that was cleared: the same.
#[test]
fn runs_in_one_recorder_do_not_touch_each_other() {
    for algorithm in Registry::builtin().iter() {
        let (mut shared, mut cleared) = (algorithm.recorder(), algorithm.recorder());
        for (place, problem) in problems(algorithm).iter().enumerate() {
            cleared.clear();
            algorithm.record_json(problem, &mut shared).expect("admitted");
            algorithm.record_json(problem, &mut cleared).expect("admitted");
            let (last, only) = (shared.last().expect("recorded"), cleared.last().expect("recorded"));
            assert!(last.iter().eq(only.iter()), "{}: {problem}", algorithm.name());
            assert_eq!(shared.step_locations(place), cleared.step_locations(0));
        }
    }
}

/// Every step was recorded in the algorithm's own file, so that a page can show the line beside the state.
#[test]
fn every_step_knows_a_line_of_the_algorithms_file() {
    for algorithm in Registry::builtin().iter() {
        let mut recorder = algorithm.recorder();
        algorithm.record_json(&problems(algorithm)[LARGEST], &mut recorder).expect("admitted");
        assert!(!recorder.step_locations(0).is_empty());
        for site in recorder.step_locations(0) {
            assert!(site.file().ends_with(&format!("{}.rs", algorithm.name())), "{}: {site}", algorithm.name());
            let line = algorithm.source().line(site.line()).expect("in the file");
            assert!(line.contains("hint"), "{}: {site}: {line}", algorithm.name());
        }
    }
}

/// Every answer with a single cell changed: refused, unless the oracle says that it is right too.
#[test]
fn changed_answers_are_refused_unless_they_are_right_too() {
    for algorithm in Registry::builtin().iter() {
        let name = algorithm.name();
        let (mut refused, mut tried) = (0, 0);
        for problem in problems(algorithm) {
            let mut recorder = algorithm.recorder();
            algorithm.record_json(&problem, &mut recorder).expect("admitted");
            let run = recorder.last().expect("recorded");
            let answer = run.stage(Stage::Output);
            assert!(
                oracle::is_right(name, &problem, &answer),
                "{name}: the oracle refuses the algorithm's own answer to {problem}"
            );
            let probes: Vec<&Probe> = algorithm.spec().iter().filter(|probe| probe.stage == Stage::Output).collect();
            for (place, probe) in probes.into_iter().enumerate() {
                for changed in single_changes(answer[place], probe, run.nodes()) {
                    let mut answer = answer.clone();
                    answer[place] = changed.cells();
                    let accepted = match algorithm.check(run.nodes(), &run.stage(Stage::Input), &answer) {
                        Ok(()) => true,
                        Err(CheckError::Failed(_)) => false,
                        Err(foreign) => panic!("{name}: {foreign}"),
                    };
                    let right = oracle::is_right(name, &problem, &answer);
                    assert_eq!(accepted, right, "{name}: {answer:?} for {problem}");
                    tried += 1;
                    refused += usize::from(!accepted);
                }
            }
        }
        assert!(tried >= PROBLEMS && refused > 10, "{name}: {refused} of {tried} changed answers were refused");
    }
}

/// Whatever stands in for a column, a count of nodes or a list of columns: refused as foreign, no panic. Positions may be any.
#[test]
fn foreign_columns_are_refused() {
    for algorithm in Registry::builtin().iter() {
        let mut recorder = algorithm.recorder();
        algorithm.record_json(&problems(algorithm)[LARGEST], &mut recorder).expect("admitted");
        let run = recorder.last().expect("recorded");
        let (n, inputs) = (run.nodes(), run.stage(Stage::Input));
        let all = [inputs.clone(), run.stage(Stage::Output)].concat();
        let refuses = |n, cells: &[Cells<'_>]| {
            let (inputs, outputs) = cells.split_at(inputs.len());
            matches!(algorithm.check(n, inputs, outputs), Err(CheckError::Malformed(_)))
        };
        for length in [0, 1, n, n * n, n * n + 1] {
            let (scalars, nodes, classes) = (vec![f64::NAN; length], vec![u32::MAX; length], vec![i8::MIN; length]);
            for foreign in [Cells::Scalar(&scalars), Cells::Node(&nodes), Cells::Class(&classes)] {
                for (place, probe) in algorithm.spec()[..all.len()].iter().enumerate().filter(|(_, probe)| probe.name != "pos") {
                    let mut changed = all.clone();
                    changed[place] = foreign;
                    assert!(refuses(n, &changed), "{}: {foreign:?} as {}", algorithm.name(), probe.name);
                }
            }
        }
        assert!([0, n - 1, n + 1, usize::MAX].into_iter().all(|n| refuses(n, &all)), "{}: nodes", algorithm.name());
        assert!(refuses(n, &all[..inputs.len()]) && refuses(n, &all[1..]), "{}: too few columns", algorithm.name());
    }
}

fn single_changes(answer: Cells<'_>, probe: &Probe, n: usize) -> Vec<Column> {
    fn changes<T: Copy + PartialEq>(cells: &[T], values: &[T]) -> Vec<Vec<T>> {
        let change = |(at, value)| {
            let mut changed = cells.to_vec();
            (std::mem::replace(&mut changed[at], value) != value).then_some(changed)
        };
        (0..cells.len()).flat_map(|at| values.iter().map(move |&value| (at, value))).filter_map(change).collect()
    }
    let classes = if let Kind::Categorical { classes } = probe.kind { classes } else { 2 };
    let classes: Vec<i8> = (if probe.masked { -1 } else { 0 }..i8::try_from(classes).expect("few")).collect();
    match answer {
        Cells::Node(cells) => changes(cells, &(0..).take(n).collect::<Vec<u32>>()).into_iter().map(Column::Node).collect(),
        Cells::Class(cells) => changes(cells, &classes).into_iter().map(Column::Class).collect(),
        Cells::Scalar(_) => panic!("no output is a scalar"),
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
