//! What is formatted can be parsed again, for every algorithm and format.

use clrs::sampling::Sampler;
use clrs::{AnyAlgorithm, Cells, Recorder, Registry, SamplerOptions, Stage, Trajectories, Trajectory};
use clrs_text::{Format, FormatError, Formatter, Question, Task};

const SAMPLES: usize = 20;

fn samples(algorithm: &'static dyn AnyAlgorithm, size: usize, decimals: u32) -> Recorder {
    let options = SamplerOptions::parse([format!("truncate_decimals={decimals}").as_str()]).expect("an option");
    let mut recorder = algorithm.recorder();
    let mut sampler = Sampler::new(algorithm, size, 5, &options).expect("a size that every algorithm accepts");
    sampler.record(SAMPLES, &mut recorder).expect("sampled problems");
    recorder
}

/// Inputs are equal but for positions, which follow from the number of nodes: strings have positions of their own.
fn has_inputs(question: &Question, sample: Trajectory<'_>) -> bool {
    let inputs = sample.iter().filter(|(probe, _)| probe.stage == Stage::Input);
    inputs.zip(question.inputs()).all(|((probe, expected), found)| probe.name == "pos" || expected == found)
}

#[test]
fn questions_and_answers_are_parsed_to_what_was_formatted() {
    let registry = Registry::builtin();
    for algorithm in registry.iter() {
        for (size, decimals) in [(4, 3), (7, 0), (13, 3), (13, 0)] {
            let recorder = samples(algorithm, size, decimals);
            for (format, hints) in [Format::V2_0_3, Format::V1].into_iter().flat_map(|format| [(format, false), (format, true)]) {
                for sample in recorder.trajectories().iter() {
                    let example = Formatter::new(algorithm, format, hints).format(sample).expect("a recorded sample");
                    let (name, text) = (algorithm.name(), &example.question);
                    let task = Task::parse(&registry, text).unwrap_or_else(|error| panic!("{error}: {text}"));
                    let question = task.question();
                    assert_eq!((question.algorithm().name(), question.nodes()), (name, sample.nodes()));
                    assert_eq!(question.format(), format, "{text}");
                    assert!(has_inputs(question, sample), "{text}");
                    let verdict = task.verify(&example.answer).expect("the problem was sampled");
                    assert!(
                        verdict.exact_match && verdict.valid && verdict.parsed && verdict.shape,
                        "{name}: {verdict:?}\n{text}"
                    );
                    assert_eq!((verdict.element_accuracy, verdict.failure), (1.0, None), "{text}");
                    assert_eq!(task.reference().expect("the problem was sampled"), example.answer);
                    if let Some(trace) = verdict.trace {
                        let hidden = if format == Format::V1 { 1 } else { 2 };
                        assert_eq!((trace.steps, trace.first_divergence), (sample.steps().saturating_sub(hidden), None));
                    }
                }
            }
        }
    }
}

/// Rounded numbers describe another problem: it may have another solution, or be none. The given answer is right all the same.
#[test]
fn rounded_questions_are_verified_against_the_given_answer() {
    let registry = Registry::builtin();
    for algorithm in registry.iter() {
        let recorder = samples(algorithm, 13, 0);
        for (hints, sample) in
            [false, true].into_iter().flat_map(|hints| recorder.trajectories().iter().map(move |sample| (hints, sample)))
        {
            let example = Formatter::new(algorithm, Format::V2_0_1, hints).format(sample).expect("a recorded sample");
            let task = Task::with_reference(&registry, &example.question, &example.answer).expect("a question and its answer");
            let verdict = task.verify(&example.answer).expect("the answer is given");
            assert!(verdict.exact_match && verdict.valid, "{verdict:?}\n{}", example.question);
            assert!(task.is_valid(&example.answer).expect("the answer is given"));
        }
    }
}

/// All white space may be replaced by other white space, and there may be more of it next to marks.
#[test]
fn white_space_does_not_matter() {
    let registry = Registry::builtin();
    for algorithm in registry.iter() {
        let recorder = samples(algorithm, 5, 3);
        for (format, hints) in Format::ALL.into_iter().flat_map(|format| [(format, false), (format, true)]) {
            let example = Formatter::new(algorithm, format, hints).format(recorder.trajectories().get(0)).expect("a sample");
            let spaced = |text: &str| {
                let marked = text.chars().map(|c| if "[](),|:=".contains(c) { format!(" {c}\n") } else { c.to_string() });
                marked.collect::<String>().replace(' ', "\t \r\n")
            };
            let task = Task::with_reference(&registry, &spaced(&example.question), &example.answer).expect("a question");
            let verdict = task.verify(&spaced(&example.answer)).expect("the answer is given");
            assert!(verdict.exact_match && verdict.valid, "{}: {verdict:?}", algorithm.name());
        }
    }
}

#[test]
fn stored_trajectories_of_other_specs_are_formatted() {
    use clrs::clrs30::Version;
    let sort = Registry::builtin().find("bubble_sort").expect("a built-in algorithm");
    let recorder = samples(sort, 5, 3);
    let mut stored = Trajectories::new(Version::V1_0_0.spec(sort));
    let cells: Vec<Cells<'_>> = recorder.trajectories().get(0).iter().map(|(_, cells)| cells).collect();
    stored.push(5, recorder.trajectories().get(0).steps(), &cells).expect("the same cells");
    let format = |sample, format| Formatter::new(sort, format, true).format(sample).expect("a sample");
    // Version 1.0.0 has a plain pointer instead of a permutation: its text has pointers, too.
    let pred = match stored.get(0).get("pred") {
        Some(Cells::Node(pred)) => pred.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
        other => panic!("{other:?}"),
    };
    assert!(format(stored.get(0), Format::V2_0_3).answer.ends_with(&format!(" | [{pred}]\n\n")));
    assert_eq!(format(stored.get(0), Format::V1), format(recorder.trajectories().get(0), Format::V1));

    let select = Registry::builtin().find("quickselect").expect("a built-in algorithm");
    let recorder = samples(select, 5, 3).into_trajectories().with_spec(&Version::V1_0_0.spec(select));
    let traced = Formatter::new(select, Format::V2_0_3, true).format(recorder.get(0));
    assert_eq!(traced, Err(FormatError::Missing(Stage::Hint)), "it has no pivots");
    assert!(Formatter::new(select, Format::V2_0_3, false).format(recorder.get(0)).is_ok());
}

#[test]
fn predictions_are_formatted_with_the_question_of_their_sample() {
    let sort = Registry::builtin().find("insertion_sort").expect("a built-in algorithm");
    let mut recorder = sort.recorder();
    sort.record_json(r#"{"key": [0.5, 0.2, 0.4]}"#, &mut recorder).expect("a problem");
    let sample = recorder.trajectories().get(0);
    let outputs = sample.spec().iter().filter(|probe| probe.stage == Stage::Output).cloned().collect();
    let predict = |pred: &[u32], format| {
        let mut predicted = Trajectories::new(clrs::Spec::new(Clone::clone(&outputs)).expect("one name"));
        predicted.push(3, 0, &[Cells::Node(pred)]).expect("an output");
        Formatter::new(sort, format, false).format_prediction(sample, predicted.get(0)).map(|example| example.answer)
    };
    assert_eq!(predict(&[0, 0, 1], Format::V2_0_3), Ok("[0.5 0.2 0.4]\n\n".into()));
    assert_eq!(predict(&[0, 0, 1], Format::V1), Ok("output: pred=[0 0 1]\n".into()));
    let error = FormatError::NotAPermutation { probe: "pred".into(), format: Format::V2_0_3 };
    assert_eq!(predict(&[0, 0, 0], Format::V2_0_3), Err(error));
    assert_eq!(predict(&[0, 0, 0], Format::V1), Ok("output: pred=[0 0 0]\n".into()), "pointers need not be an order");
}

#[test]
fn trajectories_that_do_not_fit_are_rejected() {
    let sort = Registry::builtin().find("insertion_sort").expect("a built-in algorithm");
    let (small, large) = (samples(sort, 4, 3), samples(sort, 5, 3));
    let (small, large) = (small.trajectories().get(0), large.trajectories().get(0));
    for format in Format::ALL {
        let predicted = Formatter::new(sort, format, true).format_prediction(small, large);
        assert_eq!(predicted, Err(FormatError::Nodes { sample: 4, predicted: 5 }));
    }

    let without = |algorithm: &str, name: &str| {
        let algorithm = Registry::builtin().find(algorithm).expect("a built-in algorithm");
        let probes = algorithm.spec().iter().filter(|probe| probe.name != name).cloned().collect();
        let stored = samples(algorithm, 4, 3).into_trajectories().with_spec(&clrs::Spec::new(probes).expect("other names"));
        Formatter::new(algorithm, Format::V1, true).format(stored.get(0)).map(|_| ())
    };
    assert_eq!(without("bfs", "s"), Err(FormatError::Missing(Stage::Input)));
    assert_eq!(without("topological_sort", "topo_head"), Err(FormatError::Missing(Stage::Output)));
    assert_eq!(without("topological_sort", "topo_head_h"), Err(FormatError::Missing(Stage::Hint)));
    assert_eq!(without("topological_sort", "color"), Ok(()), "no text shows it");
}

/// A question that someone wrote may have any numbers; the reference answers it in its own format.
#[test]
fn the_reference_is_right_for_numbers_of_any_length() {
    let registry = Registry::builtin();
    let cases = [
        ("[3 1 2]", Format::V2_0_1, "[1 2 3]"),
        ("[0.549 1 0.3]", Format::V2_0_1, "[0.3 0.549 1]"),
        ("[0.54881 1 0.3]", Format::V2_0_3, "[0.3 0.54881 1.0]"),
        ("[1234 5]", Format::V2_0_3, "[5.0 1234.0]"),
        ("[1e+03 5]", Format::V2_0_1, "[5 1e+03]"),
        ("[1e3 5]", Format::V2_0_3, "[5.0 1000.0]"),
    ];
    for (key, format, answer) in cases {
        let question = format!("insertion_sort:\nkey: {key}\npred:\n");
        let task = Task::parse(&registry, &question).expect("a question");
        assert_eq!((task.question().format(), task.reference().expect("a problem").trim_end()), (format, answer));
        assert!(task.verify(answer).expect("a problem").valid, "{answer} is the order of {key}");
    }
}

#[test]
fn questions_of_text_1_have_the_complete_problem() {
    let registry = Registry::builtin();
    for algorithm in registry.iter() {
        let recorder = samples(algorithm, 6, 0);
        let sample = recorder.trajectories().get(3);
        let example = Formatter::new(algorithm, Format::V1, false).format(sample).expect("a sample");
        let question = Question::parse(&registry, &example.question).expect("a question");
        let problem = algorithm.problem_json(sample.nodes(), &sample.stage(Stage::Input)).expect("a sampled problem");
        assert_eq!(question.problem_json().expect("a sampled problem"), problem);
    }
}
