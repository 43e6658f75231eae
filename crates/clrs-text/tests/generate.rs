//! Files of questions and answers.

use std::path::Path;
#[cfg(unix)]
use std::time::{Duration, Instant};

use clrs::cancel::{CancelToken, Cancelled};
use clrs::{AnyAlgorithm, Registry};
use clrs_store::{OnExisting, Progress, Shard};
use clrs_text::generate::{GenerateError, GenerateOptions, GeneratedFile, RowSource, TextFile, generate};
use clrs_text::{Block, FileFormat, Format, Generator, Rows, TextOptions};
use serde_json::Value;

fn algorithm(name: &str) -> &'static dyn AnyAlgorithm {
    Registry::builtin().find(name).expect("a built-in algorithm")
}

fn blocks(name: &str, count: u64) -> RowSource {
    let block = |size, seed| Block { algorithm: algorithm(name), size, seed, count };
    RowSource::Blocks(vec![block(4, 0), block(4, 7), block(9, 0)])
}

fn choices(rows: u64) -> RowSource {
    let tasks = [("bfs", 4), ("bfs", 9), ("heapsort", 5), ("binary_search", 16)];
    RowSource::Choices { tasks: tasks.map(|(name, size)| (algorithm(name), size)).to_vec(), seed: 3, rows }
}

fn files() -> Vec<TextFile> {
    let file = |name: &str, rows| TextFile { name: name.into(), rows };
    vec![file("bfs", blocks("bfs", 700)), file("heapsort", blocks("heapsort", 300)), file("stream", choices(2000))]
}

fn options(files: FileFormat) -> GenerateOptions {
    GenerateOptions::new(TextOptions::new(Format::V2_0_3, true, Some(3)), files)
}

fn generate_in(dir: &Path, files: &[TextFile], options: &GenerateOptions) -> Result<Vec<GeneratedFile>, GenerateError> {
    generate(files, dir, options, &())
}

fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = dir.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut contents: Vec<_> = entries.map(|path| (name(&path), std::fs::read(&path).expect("a file"))).collect();
    contents.sort();
    contents
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a file");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn files_do_not_depend_on_the_number_of_threads() {
    for format in [FileFormat::Parquet, FileFormat::Jsonl] {
        let of = |threads| {
            let dir = tempfile::tempdir().expect("a directory");
            generate_in(dir.path(), &files(), &options(format).with_threads(threads)).expect("generated");
            contents(dir.path())
        };
        let one = of(1);
        assert_eq!(one.len(), 6, "three files and their settings");
        assert!(one == of(2) && one == of(7), "{format:?}");
    }
}

/// Rows of any chunk size are those of a sampler that draws one at a time.
#[test]
fn chunks_of_any_size_have_the_same_rows() {
    for source in [blocks("dijkstra", 50), choices(150)] {
        let rows = |sizes: &[usize]| {
            let mut generator = source.generator(&options(FileFormat::Jsonl).text).expect("valid");
            let mut left = 150;
            let mut all = Vec::new();
            for &size in sizes.iter().cycle() {
                let rows = generator.next_rows(size.min(left)).expect("sampled");
                all.extend(rows.iter().map(|row| serde_json::to_string(&row).expect("JSON")));
                left -= rows.len();
                if left == 0 {
                    return all;
                }
            }
            all
        };
        let one = rows(&[1]);
        assert_eq!(one.len(), 150);
        assert!(one == rows(&[150]) && one == rows(&[7, 64, 1]));
    }
}

#[test]
fn blocks_end_and_their_rows_have_the_identity_of_the_trajectory() {
    let mut generator = blocks("minimum", 2).generator(&TextOptions::default()).expect("valid");
    let rows = generator.next_rows(100).expect("sampled");
    let identity =
        |rows: &Rows| -> Vec<_> { rows.iter().map(|row| (row.identity.size, row.identity.seed, row.identity.index)).collect() };
    assert_eq!(identity(&rows), [(4, 0, 0), (4, 0, 1), (4, 7, 0), (4, 7, 1), (9, 0, 0), (9, 0, 1)]);
    assert!(generator.next_rows(100).expect("sampled").is_empty());

    let block = Block { algorithm: algorithm("minimum"), size: 9, seed: 0, count: 2 };
    let mut skipped = Generator::blocks(&[block], &TextOptions::default()).expect("valid");
    skipped.skip_rows(1).expect("sampled");
    let last = skipped.next_rows(5).expect("sampled");
    assert_eq!(identity(&last), [(9, 0, 1)]);
    assert_eq!(last.get(0).question, rows.get(5).question);
}

#[test]
fn generators_can_be_cancelled_on_all_threads() {
    let mut generator = blocks("dijkstra", 50).generator(&TextOptions::default()).expect("valid");
    let token = CancelToken::default();
    token.cancel();
    assert!(matches!(token.run(|| generator.next_rows(100).map(drop)), Err(Cancelled)));
}

#[test]
fn shards_are_consecutive_parts_of_the_file() {
    let whole = tempfile::tempdir().expect("a directory");
    generate_in(whole.path(), &files(), &options(FileFormat::Jsonl)).expect("generated");
    let parts = tempfile::tempdir().expect("a directory");
    for index in 0..3 {
        let shard = options(FileFormat::Jsonl).with_shard(Some(Shard { index, count: 3 }));
        generate_in(parts.path(), &files(), &shard).expect("generated");
    }
    for name in ["bfs", "heapsort", "stream"] {
        let part = |index| lines(&parts.path().join(format!("{name}-0000{index}-of-00003.jsonl")));
        assert_eq!(lines(&whole.path().join(format!("{name}.jsonl"))), (0..3).flat_map(part).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn the_json_of_dm_clrs_has_one_document_per_algorithm() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = TextFile { name: "bfs".into(), rows: blocks("bfs", 2) };
    generate_in(dir.path(), &[file], &options(FileFormat::Json)).expect("generated");
    let text = std::fs::read_to_string(dir.path().join("bfs.json")).expect("a file");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["name"], "clrs_text_bfs");
    let examples = document["examples"].as_array().expect("examples");
    assert_eq!(examples.len(), 6);
    assert_eq!(examples[2]["auxiliary"], serde_json::json!({ "length": 4, "seed": 7, "use_hints": true }));
    assert!(examples[2]["prompt"].as_str().is_some_and(|prompt| prompt.starts_with("bfs:\n")));
    assert_eq!(examples[2]["references"].as_array().map(Vec::len), Some(1));
    // `json.dump(.., indent=2)` of the same document.
    assert_eq!(text, serde_json::to_string_pretty(&document).expect("JSON"));

    let stream = TextFile { name: "stream".into(), rows: choices(5) };
    let error = generate_in(dir.path(), &[stream], &options(FileFormat::Json)).expect_err("several algorithms");
    assert!(matches!(error, GenerateError::SeveralAlgorithms(_)), "{error}");
}

#[test]
fn complete_files_with_the_same_settings_are_kept() {
    let dir = tempfile::tempdir().expect("a directory");
    let cached = |files: &[TextFile], options: &GenerateOptions| {
        generate_in(dir.path(), files, options).map(|files| files.iter().map(|file| file.cached).collect::<Vec<_>>())
    };
    let jsonl = options(FileFormat::Jsonl);
    assert_eq!(cached(&files(), &jsonl).expect("generated"), [false; 3]);
    std::fs::remove_file(dir.path().join("heapsort.jsonl")).expect("removed");
    assert_eq!(cached(&files(), &jsonl).expect("generated"), [true, false, true], "the missing one is generated again");

    let plain = GenerateOptions::new(TextOptions::default(), FileFormat::Jsonl);
    let error = cached(&files(), &plain).expect_err("other settings");
    assert!(error.is_resolved_by_replacing(), "{error}");
    assert!(error.to_string().ends_with(".jsonl: exists, and was generated with other settings"), "{error}");
    let replace = plain.with_on_existing(OnExisting::Replace);
    assert_eq!(cached(&files(), &replace).expect("replaced"), [false; 3]);
    assert_eq!(cached(&files(), &replace).expect("kept"), [true; 3], "nothing to replace");

    std::fs::write(dir.path().join("bfs.jsonl"), "{}\n").expect("written");
    let error = cached(&files(), &GenerateOptions::new(TextOptions::default(), FileFormat::Jsonl)).expect_err("changed");
    assert!(error.to_string().ends_with("bfs.jsonl: exists, and has been changed since it was generated"), "{error}");
    std::fs::remove_file(dir.path().join(".bfs.jsonl.settings")).expect("removed");
    let error = cached(&files(), &GenerateOptions::new(TextOptions::default(), FileFormat::Jsonl)).expect_err("unknown");
    assert!(error.to_string().ends_with("bfs.jsonl: exists, and it is not known how it was generated"), "{error}");
}

/// Stops after some samples.
struct Impatient(std::sync::atomic::AtomicUsize);

impl Progress for Impatient {
    fn add_samples(&self, _name: &str, count: usize) {
        self.0.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
    }

    fn finish_set(&self, _name: &str) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed) > 10
    }
}

#[test]
fn cancelled_files_do_not_appear_and_the_rest_is_generated_later() {
    let (dir, whole) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let cancelled = generate(&files(), dir.path(), &options(FileFormat::Jsonl), &Impatient(0.into()));
    assert!(matches!(cancelled, Err(GenerateError::Cancelled)));
    assert!(contents(dir.path()).iter().all(|(name, _)| !name.ends_with(".partial")), "no temporary files are left");
    let complete = contents(dir.path()).iter().filter(|(name, _)| !name.starts_with('.')).count();
    assert!(complete < 3, "{complete} files");
    generate_in(dir.path(), &files(), &options(FileFormat::Jsonl)).expect("generated");
    generate_in(whole.path(), &files(), &options(FileFormat::Jsonl)).expect("generated");
    assert!(contents(dir.path()) == contents(whole.path()));
}

/// Puts a directory into the place of the file while it is generated.
struct Obstacle(std::path::PathBuf);

impl Progress for Obstacle {
    fn add_samples(&self, _name: &str, _count: usize) {
        let _ = std::fs::remove_file(&self.0);
        std::fs::create_dir_all(&self.0).expect("created");
    }

    fn finish_set(&self, _name: &str) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}

#[test]
fn a_file_that_is_not_replaced_does_not_get_the_settings_of_the_other() {
    let dir = tempfile::tempdir().expect("a directory");
    let files = [TextFile { name: "bfs".into(), rows: blocks("bfs", 10) }];
    generate_in(dir.path(), &files, &options(FileFormat::Jsonl)).expect("generated");
    let other = GenerateOptions::new(TextOptions::default(), FileFormat::Jsonl).with_on_existing(OnExisting::Replace);
    let obstacle = Obstacle(dir.path().join("bfs.jsonl"));
    generate(&files, dir.path(), &other, &obstacle).expect_err("a directory is not replaced");
    assert!(!dir.path().join(".bfs.jsonl.settings").exists());
}

/// Generates the files a second time, with these options, while they are generated.
struct Competitor<'a> {
    dir: &'a Path,
    options: GenerateOptions,
    result: std::sync::OnceLock<Result<Vec<GeneratedFile>, GenerateError>>,
}

impl Progress for Competitor<'_> {
    fn add_samples(&self, _name: &str, _count: usize) {
        self.result.get_or_init(|| generate_in(self.dir, &files()[..1], &self.options));
    }

    fn finish_set(&self, _name: &str) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}

#[test]
fn two_processes_can_generate_the_same_files() {
    let (dir, other) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let files = &files()[..1];
    let jsonl = options(FileFormat::Jsonl);
    let generate_beside = |dir: &Path, options| {
        let competitor = Competitor { dir, options, result: std::sync::OnceLock::new() };
        let result = generate(files, dir, &jsonl, &competitor);
        competitor.result.into_inner().expect("called").expect("generated");
        result
    };
    let generated = generate_beside(dir.path(), jsonl.clone()).expect("the same file");
    assert_eq!(generated[0].bytes, dir.path().join("bfs.jsonl").metadata().expect("a file").len());
    assert!(generate_in(dir.path(), files, &jsonl).expect("with its settings")[0].cached);

    let unlike = GenerateOptions::new(TextOptions::default(), FileFormat::Jsonl);
    let conflict = generate_beside(other.path(), unlike.clone()).expect_err("another file");
    assert!(matches!(conflict, GenerateError::Conflict { .. }), "{conflict}");
    assert!(generate_in(other.path(), files, &unlike).expect("with its settings")[0].cached);
    assert_eq!(contents(other.path()).len(), 2, "no temporary files are left");
}

/// The other process, which is this test, has stored the settings of its file and not yet named it.
#[cfg(unix)]
#[test]
fn a_file_that_is_about_to_be_named_keeps_its_settings() {
    let (dir, other) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let files = &files()[..1];
    generate_in(other.path(), files, &GenerateOptions::new(TextOptions::default(), FileFormat::Jsonl)).expect("generated");
    let name_as_other = |name: &str| std::fs::copy(other.path().join(name), dir.path().join(name)).expect("copied");
    let lock = std::fs::File::open(dir.path()).expect("a directory");
    lock.lock().expect("directories can be locked");
    name_as_other(".bfs.jsonl.settings");
    let result = std::thread::scope(|scope| {
        let generated = scope.spawn(|| generate_in(dir.path(), files, &options(FileFormat::Jsonl)));
        // Without the lock, it would be named within this time.
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline && !dir.path().join("bfs.jsonl").exists() {
            std::thread::yield_now();
        }
        name_as_other("bfs.jsonl");
        lock.unlock().expect("unlocked");
        generated.join().expect("no panic")
    });
    assert!(matches!(result, Err(GenerateError::Conflict { .. })), "{result:?}");
    assert!(contents(dir.path()) == contents(other.path()));
}

#[test]
fn what_cannot_be_generated_is_rejected_before_any_work() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = |name: &str, rows| TextFile { name: name.into(), rows };
    let block = |name, size| RowSource::Blocks(vec![Block { algorithm: algorithm(name), size, seed: 0, count: 1 }]);
    let parquet = options(FileFormat::Parquet);
    let error =
        |files: &[TextFile], options: &GenerateOptions| generate_in(dir.path(), files, options).expect_err("invalid").to_string();
    assert_eq!(error(&[file("a", block("bfs", 4)), file("a", block("bfs", 5))], &parquet), "two files have the name a");
    assert_eq!(error(&[file("../a", block("bfs", 4))], &parquet), "`../a` cannot be the name of a file");
    assert!(error(&[file("a", block("quicksort", 1))], &parquet).starts_with("quicksort with size 1: "));
    let [first, other] = [1, 2].map(|count| Block { algorithm: algorithm("bfs"), size: 4, seed: 3, count });
    let twice = "bfs with size 4 and seed 3 is listed twice; both would have the same samples";
    assert_eq!(error(&[file("a", RowSource::Blocks(vec![first, other]))], &parquet), twice);
    let nothing = RowSource::Choices { tasks: Vec::new(), seed: 0, rows: 1 };
    assert_eq!(error(&[file("a", nothing)], &parquet), "no algorithms and sizes to choose from");
    let decimals = GenerateOptions::new(TextOptions::new(Format::V2_0_3, false, Some(16)), FileFormat::Parquet);
    assert!(error(&[file("a", block("bfs", 4))], &decimals).ends_with("`truncate_decimals` is 16; it must be at most 15"));
    assert!(contents(dir.path()).is_empty());
    // The file with the least work, which would be the last.
    std::fs::write(dir.path().join("a.parquet"), "").expect("written");
    let error = error(&[file("b", block("bfs", 9)), file("a", block("bfs", 4))], &parquet.with_threads(1));
    assert!(error.ends_with("a.parquet: exists, and it is not known how it was generated"), "{error}");
    assert_eq!(contents(dir.path()).len(), 1);
    std::fs::remove_file(dir.path().join("a.parquet")).expect("removed");
    std::fs::create_dir(dir.path().join("a.parquet")).expect("created");
    for on_existing in [OnExisting::Fail, OnExisting::Replace] {
        let options = options(FileFormat::Parquet).with_on_existing(on_existing);
        let error = generate_in(dir.path(), &[file("a", block("bfs", 4))], &options).expect_err("a directory");
        assert!(error.to_string().ends_with("a.parquet: is a directory") && !error.is_resolved_by_replacing(), "{error}");
    }
}
