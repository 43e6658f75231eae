//! Untrusted texts: any question and any answer is read or rejected, without a panic.

mod parsers;

use clrs::sampling::Sampler;
use clrs::{RandomState, Registry, SamplerOptions};
use clrs_text::{Format, Formatter};

#[test]
fn texts_at_the_edges_are_read_or_rejected() {
    let questions = [
        "",
        "bfs",
        "bfs:",
        "bfs:\ns: 0, A: []\npi:\n",
        "bfs:\ns: 0, A: [[]]\npi:\n",
        "bfs:\ns: 0, A: [[0]]\npi:\n",
        "bfs:\ns: 1, A: [[0]]\npi:\n",
        "bfs:\ns: 0, A: 1\npi:\n",
        "bfs:\ns: 0, A: [[0 1], [1]]\npi:\n",
        "bfs:\ns: 0, A: [[9223372036854775807]]\npi:\n",
        "minimum:\nkey: []\nmin:\n",
        "minimum:\nkey: [1e308 -1e308 5e-324]\nmin:\n",
        "minimum:\nkey: [0.1], initial_trace: \ntrace | min:\n",
        "binary_search:\nkey: [0.1 0.2], target: 0.15, initial_trace: (0, 1)\ntrace | (low, high):\n",
        "binary_search:\nkey: [0.2 0.1], target: 0.15\nreturn:\n",
        "insertion_sort:\nkey: [0.5 -0.0 0.0]\npred:\n",
        "segments_intersect:\nx: [0.1 0.2 0.3 0.4], y: [0.1 0.2 0.3 0.4], initial_trace: 0\ntrace | intersect:\n",
        "text@1",
        "text@1 bfs\nnodes: 99999999999999999999\ninput: s=0 A=[[0]]\noutput: pi\n",
        "text@1 bfs\nnodes: 2\ninput: s=0 A=[[0]]\noutput: pi\n",
        "text@1 bfs\nnodes: 1\ninput: s=0 A=[[0]]\ntrace: pi_h\nstep 0: pi_h=[0]\noutput: pi\n",
    ];
    let answers =
        ["", " ", "|", "[0]", "[[0]]", "0", "-1", " | [0]", "(0, 0) | (1, 0)", "output: pi=[0]", "[0.0 0.5 -0.0]", "\u{1F600}"];
    for question in questions {
        for answer in answers {
            parsers::any_texts(question, answer);
        }
        parsers::any_texts(question, &"[".repeat(100_000));
        parsers::any_texts(&format!("{question}{}", "[".repeat(100_000)), "0");
    }
}

/// Packages do not contain the corpus of the fuzzer.
#[test]
fn the_corpus_of_the_fuzzer_is_read_or_rejected() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/text_answer");
    for file in std::fs::read_dir(corpus).into_iter().flatten() {
        parsers::text_answer(&std::fs::read(file.expect("an entry").path()).expect("a file"));
    }
}

/// Drops, duplicates, swaps and replaces characters of questions and answers.
#[test]
fn changed_texts_are_read_or_rejected() {
    const CHARACTERS: &[u8] = b"0123456789.-e[](),|:= \nnpx";
    let mut random = RandomState::new(3);
    for algorithm in Registry::builtin().iter() {
        let mut recorder = algorithm.recorder();
        Sampler::new(algorithm, 5, 1, &SamplerOptions::parse(["truncate_decimals=2"]).expect("an option"))
            .expect("a size that every algorithm accepts")
            .record(1, &mut recorder)
            .expect("a sampled problem");
        for (format, hints) in Format::ALL.into_iter().flat_map(|format| [(format, false), (format, true)]) {
            let example = Formatter::new(algorithm, format, hints).format(recorder.trajectories().get(0)).expect("a sample");
            let mut changed = |text: &str| {
                let mut bytes = text.as_bytes().to_vec();
                for _ in 0..random.choice(4) {
                    let (at, other) = (random.choice(bytes.len()), random.choice(bytes.len()));
                    match random.choice(4) {
                        0 => drop(bytes.remove(at)),
                        1 => bytes.insert(at, bytes[other]),
                        2 => bytes.swap(at, other),
                        _ => bytes[at] = CHARACTERS[random.choice(CHARACTERS.len())],
                    }
                }
                String::from_utf8(bytes).expect("ASCII")
            };
            for _ in 0..100 {
                parsers::any_texts(&changed(&example.question), &changed(&example.answer));
            }
        }
    }
}
