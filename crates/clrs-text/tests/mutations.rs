//! Answers with changes are valid if and only if they are right, which brute-force oracles decide.

#[path = "../../clrs/tests/oracle/mod.rs"]
mod oracle;

use std::fmt::Write;

use clrs::sampling::Sampler;
use clrs::{AnyAlgorithm, Column, Kind, Location, Probe, RandomState, Registry, SamplerOptions, Stage};
use clrs_text::{Criterion, Format, Formatter, Task, reward};

const MUTATIONS: usize = 100_000;
/// Oracles enumerate paths, subsets and orders.
const LARGEST: usize = 7;
const PROBLEMS: usize = 60;

/// A question with what the oracle needs to know.
struct Case {
    algorithm: &'static dyn AnyAlgorithm,
    nodes: usize,
    problem: String,
    keys: Vec<f64>,
    format: Format,
    hints: bool,
    task: Task,
    answer: String,
}

fn cases(algorithm: &'static dyn AnyAlgorithm) -> Vec<Case> {
    let registry = Registry::builtin();
    let mut cases = Vec::new();
    for problem in 0..PROBLEMS {
        let size = 4 + problem % (LARGEST - 3);
        // With a single decimal, equal numbers are common: there are several right answers.
        let decimals = ["truncate_decimals=1", "truncate_decimals=3"][problem / 4 % 2];
        let options = SamplerOptions::parse([decimals]).expect("an option");
        let mut recorder = algorithm.recorder();
        let sampled = Sampler::new(algorithm, size, problem.try_into().expect("a seed"), &options)
            .and_then(|mut sampler| Ok(sampler.record(1, &mut recorder)?));
        // A single decimal leaves few points in the plane: some distributions find no sample.
        if sampled.is_err() {
            continue;
        }
        let sample = recorder.trajectories().get(0);
        let format = if problem % 3 == 0 { Format::V1 } else { Format::V2_0_3 };
        let example = Formatter::new(algorithm, format, problem % 5 == 0).format(sample).expect("a recorded sample");
        let task = Task::parse(&registry, &example.question).expect("a question");
        cases.push(Case {
            algorithm,
            nodes: sample.nodes(),
            problem: algorithm.problem_json(sample.nodes(), &sample.stage(Stage::Input)).expect("a sampled problem"),
            keys: match sample.get("key") {
                Some(clrs::Cells::Scalar(keys)) => keys.to_vec(),
                _ => Vec::new(),
            },
            format,
            hints: task.question().hints(),
            task,
            answer: example.answer,
        });
    }
    cases
}

impl Case {
    fn outputs(&self) -> Vec<&'static Probe> {
        self.algorithm.spec().iter().filter(|probe| probe.stage == Stage::Output).collect()
    }

    /// The trace of an answer and the rest.
    fn final_part<'a>(&self, answer: &'a str) -> (&'a str, &'a str) {
        let separator = if self.format == Format::V1 { "output" } else { "|" };
        let start = if self.hints { answer.rfind(separator).unwrap_or(0) } else { 0 };
        answer.split_at(start)
    }

    /// Whether an answer is right. It is read in the opposite direction: numbers are taken from it, formatted by the rules of the
    /// format, and compared with it.
    fn is_right(&self, part: &str) -> bool {
        let words: Vec<&str> = part.split(|c: char| !(c.is_ascii_digit() || "-.e".contains(c))).collect();
        // Names of `text@1` contain the letter e.
        let mut numbers = words.into_iter().filter(|word| word.contains(|c: char| c.is_ascii_digit()));
        let mut written = String::new();
        let mut outputs = Vec::new();
        let mut probes = self.outputs();
        // A search with a trace ends with two equal nodes.
        let is_pair = self.hints && self.format != Format::V1 && self.algorithm.text_trace().len() > 1;
        if is_pair && probes.len() == 1 {
            probes.push(probes[0]);
        }
        for (index, probe) in probes.iter().enumerate() {
            let separator = if index > 0 && self.format != Format::V1 { ", " } else { " " };
            written.push_str(separator);
            if self.format == Format::V1 {
                write!(written, "{}=", probe.name).expect("a string");
            }
            let Some(output) = self.read(probe, &mut numbers, &mut written) else { return false };
            outputs.push(output);
        }
        let written = match (self.format, self.hints) {
            (Format::V1, _) => format!("output:{written}"),
            (_, true) if is_pair => format!("| ({written})"),
            (_, true) => format!("| {written}"),
            (_, false) => written,
        };
        if numbers.next().is_some() || squeezed(&written) != squeezed(part) {
            return false;
        }
        if is_pair && outputs.len() > self.outputs().len() {
            let repeated = outputs.pop();
            if repeated.as_ref() != outputs.last() {
                return false;
            }
        }
        let cells: Vec<_> = outputs.iter().map(Column::cells).collect();
        oracle::is_correct(self.algorithm.name(), &self.problem, &cells)
    }

    /// Reads an output of as many numbers as the problem requires, and writes it as it should have been written.
    fn read<'a>(&self, probe: &Probe, numbers: &mut impl Iterator<Item = &'a str>, written: &mut String) -> Option<Column> {
        let n = self.nodes;
        let count = if probe.kind == Kind::MaskOne { 1 } else { probe.location.count(n) };
        let words: Vec<&str> = numbers.take(count).collect();
        if words.len() < count {
            return None;
        }
        match probe.location {
            Location::Edge => {
                let rows: Vec<String> = words.chunks(n).map(|row| format!("[{}]", row.join(" "))).collect();
                let separator = if self.format == Format::V1 { " " } else { ", " };
                write!(written, "[{}]", rows.join(separator)).expect("a string");
            }
            Location::Node if probe.kind != Kind::MaskOne => write!(written, "[{}]", words.join(" ")).expect("a string"),
            _ => written.push_str(words[0]),
        }
        if probe.kind == Kind::Permutation && self.format != Format::V1 {
            return self.read_keys(&words);
        }
        let integers: Option<Vec<i64>> =
            words.iter().map(|word| word.parse().ok().filter(|integer: &i64| integer.to_string() == *word)).collect();
        let in_range = |least: i64, end: usize| {
            let end = i64::try_from(end).expect("a small number");
            integers.as_ref().filter(|integers| integers.iter().all(|integer| (least..end).contains(integer)))
        };
        Some(match probe.kind {
            Kind::Mask | Kind::Categorical { .. } => {
                let classes = if let Kind::Categorical { classes } = probe.kind { classes } else { 2 };
                let integers = in_range(if probe.masked { -1 } else { 0 }, classes)?;
                Column::Class(integers.iter().map(|&class| class.try_into().expect("a class")).collect())
            }
            _ => Column::Node(in_range(0, n)?.iter().map(|&node| node.try_into().expect("a node")).collect()),
        })
    }

    /// Keys in an order, as pointers: takes the first node that is left and has the key.
    fn read_keys(&self, words: &[&str]) -> Option<Column> {
        let mut left: Vec<usize> = (0..self.nodes).collect();
        let mut pred = vec![0; self.nodes];
        let mut last = None;
        for word in words {
            let key: f64 = word.parse().ok()?;
            let position = left.iter().position(|&node| self.keys[node] == key)?;
            let node = left.remove(position);
            pred[node] = last.unwrap_or(node).try_into().expect("a node");
            last = Some(node);
        }
        Some(Column::Node(pred))
    }

    /// The reference answer with one to three changes of its final part.
    fn mutate(&self, random: &mut RandomState) -> String {
        let (trace, part) = self.final_part(&self.answer);
        let mut tokens: Vec<String> = tokens(part);
        for _ in 0..=random.choice(3) {
            let at = random.choice(tokens.len());
            let numbers: Vec<usize> = (0..tokens.len()).filter(|&index| is_number(&tokens[index])).collect();
            let number = |random: &mut RandomState| numbers[random.choice(numbers.len())];
            // Most changes keep the syntax: others are wrong in a single way.
            match if numbers.is_empty() { 7 } else { random.choice(10) } {
                0..=3 => {
                    let at = number(random);
                    tokens[at] = random.choice(self.nodes + 1).to_string();
                }
                4 | 5 => {
                    let (one, other) = (number(random), number(random));
                    tokens.swap(one, other);
                }
                6 => {
                    let (one, other) = (number(random), number(random));
                    let token = tokens[other].clone();
                    tokens[one] = token;
                }
                7 => tokens.insert(at, [" ", "\n", ",", "]", "[", "-1", "0", "1.0", "x"][random.choice(9)].into()),
                8 => drop(tokens.remove(at)),
                _ => tokens.swap(at, 0),
            }
            if tokens.is_empty() {
                break;
            }
        }
        format!("{trace}{}", tokens.concat())
    }
}

/// Words, marks and white space.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for c in text.chars() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        match tokens.last_mut() {
            Some(last) if is_word(c) && last.chars().all(is_word) => last.push(c),
            _ => tokens.push(c.into()),
        }
    }
    tokens
}

fn is_number(token: &str) -> bool {
    token.parse::<f64>().is_ok()
}

/// Text with one space between words and no other white space.
fn squeezed(text: &str) -> String {
    let marked: String = text.chars().map(|c| if "[](),|:=".contains(c) { format!(" {c} ") } else { c.to_string() }).collect();
    marked.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn answers_are_valid_if_and_only_if_they_are_right() {
    let registry = Registry::builtin();
    let algorithms = registry.iter().len();
    let mut random = RandomState::new(1);
    let mut tried = 0;
    for algorithm in registry.iter() {
        let cases = cases(algorithm);
        let (mut valid, mut invalid, mut different) = (0, 0, 0);
        for case in &cases {
            assert!(case.is_right(case.final_part(&case.answer).1), "the oracle accepts {}", case.answer);
        }
        for mutation in 0..MUTATIONS * 11 / 10 / algorithms {
            let case = &cases[mutation % cases.len()];
            let answer = case.mutate(&mut random);
            let (trace, part) = case.final_part(&answer);
            if squeezed(trace) != squeezed(case.final_part(&case.answer).0) {
                continue; // a change made one more step of the output
            }
            let verdict = case.task.verify(&answer).expect("the problem was sampled");
            let right = case.is_right(part);
            let name = algorithm.name();
            assert_eq!(verdict.valid, right, "{name}: {answer:?} instead of {:?} for {}", case.answer, case.problem);
            assert_eq!(verdict.exact_match, squeezed(&answer) == squeezed(&case.answer), "{name}: {answer:?}");
            valid += usize::from(verdict.valid);
            invalid += usize::from(!verdict.valid);
            different += usize::from(verdict.valid && !verdict.exact_match);
            tried += 1;
        }
        assert!(valid > 20 && invalid > 200, "{}: {valid} valid, {invalid} invalid, {different} different", algorithm.name());
    }
    assert!(tried >= MUTATIONS);
}

/// A policy that answers rightly, but not always as the algorithm does, gets all of the reward for valid answers.
#[test]
fn a_policy_with_other_right_answers_is_rewarded_for_validity_and_not_for_exact_match() {
    let mut random = RandomState::new(8);
    let bfs = Registry::builtin().find("bfs").expect("a built-in algorithm");
    let mut totals = [0.0, 0.0];
    let (mut answered, mut others) = (0, 0.0);
    for seed in 0..600 {
        let mut recorder = bfs.recorder();
        Sampler::new(bfs, 8, seed, &SamplerOptions::default()).expect("a size").record(1, &mut recorder).expect("a problem");
        let sample = recorder.trajectories().get(0);
        let example = Formatter::new(bfs, Format::V2_0_3, false).format(sample).expect("a sample");
        let Some(clrs::Cells::Node(pi)) = sample.get("pi") else { panic!("pointers") };
        let Some(clrs::Cells::Scalar(weights)) = sample.get("A") else { panic!("weights") };
        let Some(&[source]) = sample.get("s").and_then(|s| if let clrs::Cells::Node(s) = s { Some(s) } else { None }) else {
            panic!("a source")
        };
        // The mock: a breadth-first search of its own, which takes the last parent where the algorithm takes the first.
        let answer =
            if random.bernoulli(0.5) { example.answer.clone() } else { last_parents(weights, source as usize, pi.len()) };
        totals[0] += reward(&example.question, &answer, Criterion::Valid).expect("a question");
        let exact = reward(&example.question, &answer, Criterion::Exact).expect("a question");
        totals[1] += exact;
        assert_eq!(exact, f64::from(u8::from(answer == example.answer)));
        others += f64::from(u8::from(answer != example.answer));
        answered += 1;
    }
    assert!(others > 50.0, "{others} other answers");
    assert_eq!(totals, [f64::from(answered), f64::from(answered) - others]);
}

fn last_parents(weights: &[f64], source: usize, n: usize) -> String {
    let mut hops = vec![usize::MAX; n];
    hops[source] = 0;
    for round in 0..n {
        for u in (0..n).filter(|&u| hops[u] == round).collect::<Vec<_>>() {
            for v in (0..n).filter(|&v| weights[u * n + v] != 0.0) {
                hops[v] = hops[v].min(round + 1);
            }
        }
    }
    let parent = |v: usize| {
        let is_parent = |&u: &usize| weights[u * n + v] != 0.0 && hops[u] != usize::MAX && hops[u] + 1 == hops[v];
        (0..n).rev().find(is_parent).unwrap_or(v).to_string()
    };
    format!("[{}]\n\n", (0..n).map(parent).collect::<Vec<_>>().join(" "))
}
