//! Untrusted recipes and checkpoints: reading them gives an error or a value, never a panic.

mod parsers;

use std::path::{Path, PathBuf};

use clrs::RandomState;

/// Files of a corpus of the fuzzers, which packages do not contain.
fn corpus(reader: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(reader);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Calls a parser with many small changes of the files of a corpus.
fn change(reader: &str, parse: impl Fn(&[u8])) {
    let mut random = RandomState::new(5);
    for file in corpus(reader) {
        let complete = std::fs::read(&file).expect("a file");
        if complete.is_empty() {
            continue;
        }
        for _ in 0..50 {
            let mut changed = complete.clone();
            for _ in 0..=random.choice(3) {
                let index = random.choice(changed.len());
                let value = random.word().to_le_bytes()[0];
                changed[index] = [value, b'0', b'"', b'-', 0xff, changed[index] ^ (1 << (value % 8))][random.choice(6)];
            }
            changed.truncate(changed.len() - random.choice(2) * random.choice(changed.len()));
            parse(&changed);
        }
    }
}

#[test]
fn the_corpus_of_recipes_is_parsed_or_rejected() {
    let files = corpus("recipe");
    let parsed = files.iter().filter(|file| parsers::recipe(&std::fs::read(file).expect("a file")).is_some()).count();
    assert!(files.is_empty() || (parsed > 0 && parsed < files.len()), "{parsed} of {} parsed", files.len());
}

#[test]
fn the_corpus_of_checkpoints_is_read_or_rejected() {
    let files = corpus("checkpoint");
    let read = files.iter().filter(|file| parsers::checkpoint(&std::fs::read(file).expect("a file")).is_some()).count();
    assert!(files.is_empty() || (read > 0 && read < files.len()), "{read} of {} read", files.len());
}

#[test]
fn changed_recipes_are_parsed_or_rejected() {
    change("recipe", |data| drop(parsers::recipe(data)));
}

#[test]
fn changed_checkpoints_are_read_or_rejected() {
    change("checkpoint", |data| drop(parsers::checkpoint(data)));
}
