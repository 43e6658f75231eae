//! Tables against the paper's, of partial sweeps, and word for word.

mod common;

use clrs::{Family, clrs30};
use clrs_nn::eval::evaluate::Steps;
use clrs_report::paper::{PaperModel, PaperTable};
use clrs_report::runs::RunState;
use clrs_report::tables::{Format, Table};
use clrs_report::{Report, ReportRun};
use serde_json::Value;

use common::{assert_snapshot, done, planned, sweep, test_evaluation, with_curve};

const PROCESSORS: [&str; 5] = ["deepsets", "gat", "memnet_full", "mpnn", "pgn"];

/// Three runs whose mean and standard deviation are the paper's.
fn papers_runs() -> Vec<ReportRun> {
    let mut runs = Vec::new();
    for algorithm in clrs30::algorithms() {
        for processor in PROCESSORS {
            let model = PaperModel::of_processor(processor).expect("a baseline");
            let [test, validation] =
                [PaperTable::Test, PaperTable::Validation].map(|table| model.result(table, algorithm.name()).expect("a result"));
            for (seed, sign) in [(1, -1.0), (2, 0.0), (3, 1.0)] {
                let run = done(algorithm.name(), processor, seed, test.mean + sign * test.stddev);
                runs.push(with_curve(run, validation.mean + sign * validation.stddev));
            }
        }
    }
    runs
}

fn table<'t>(report: &'t Report<'_>, name: &str) -> &'t Table {
    report.tables.iter().find(|table| table.name == name).expect("a table")
}

/// Values of a field of all records with a value in another field.
fn column<'t>(table: &'t Table, field: &str, wanted: (&str, &str)) -> Vec<&'t Value> {
    let is_wanted = |record: &&serde_json::Map<String, Value>| record[wanted.0] == wanted.1;
    table.records.iter().filter(is_wanted).map(|record| &record[field]).collect()
}

#[test]
fn runs_with_the_papers_scores_give_the_papers_tables() {
    let runs = papers_runs();
    let report = Report::new(&runs);
    assert_eq!(report.headline(), "450 runs finished and evaluated: 30 algorithms, 5 models, 3 seeds");

    let families = table(&report, "families");
    let overall = column(families, "mean", ("family", "overall"));
    let overall: Vec<String> = overall.iter().map(|mean| format!("{:.2}", 100.0 * mean.as_f64().expect("a mean"))).collect();
    assert_eq!(overall, ["42.72", "43.17", "38.88", "44.99", "50.84"]);
    assert_eq!(families.records.len(), 5 * (Family::ALL.len() + 1));

    let wins = table(&report, "win-tie-loss");
    let counts = |of: [&str; 3]| -> Vec<[u64; 3]> {
        wins.records.iter().map(|record| of.map(|name| record[name].as_u64().expect("a count"))).collect()
    };
    let papers = [[0, 3, 27], [1, 5, 24], [4, 2, 24], [8, 3, 19], [8, 6, 16]];
    assert_eq!(counts(["wins", "ties", "losses"]), papers);
    assert_eq!(counts(["paper_wins", "paper_ties", "paper_losses"]), papers);

    for name in ["algorithms", "validation"] {
        let records = &table(&report, name).records;
        assert_eq!(records.len(), 150);
        for record in records {
            let difference = record["difference"].as_f64().expect("a difference");
            assert!(difference.abs() < 1e-12 && record["complete"] == true, "{name}: {record:?}");
        }
    }
}

#[test]
fn a_partial_sweep_says_so_and_shows_no_mean_of_an_incomplete_family() {
    // The first 37 runs of the paper's 450, as a sweep in progress has them.
    let mut runs = papers_runs();
    for run in &mut runs[37..] {
        *run = ReportRun::planned(&run.folder, run.recipe.clone());
    }
    let report = Report::new(&runs);
    assert_eq!(report.headline(), "37 of 450 runs finished: 30 algorithms, 5 models, 3 seeds");
    assert_eq!(report.counts.not_started, 413);

    // 37 = 2 algorithms with 15 runs, and 7 of the third: two complete cells, and 1 of 3 runs.
    let algorithms = table(&report, "algorithms");
    let complete = algorithms.records.iter().filter(|record| record["complete"] == true).count();
    let partial: Vec<_> = algorithms.records.iter().filter(|record| record["runs"] == 1).collect();
    assert_eq!((complete, partial.len()), (12, 1));
    assert_eq!((&partial[0]["known_runs"], &partial[0]["stddev"]), (&Value::from(3), &Value::Null));
    let text = algorithms.to_text(Format::Terminal);
    assert!(text.contains("[1 of 3]") && text.contains("- [0 of 3]"), "{text}");

    let families = table(&report, "families");
    for record in families.records.iter().filter(|record| record["complete"] == false) {
        assert_eq!((&record["mean"], &record["paper_mean"]), (&Value::Null, &Value::Null));
    }
    // Strings, greedy and others have no result; none of the complete families has all its algorithms among three.
    assert!(families.records.iter().all(|record| record["complete"] == false));
    let page = report.to_html();
    assert!(page.contains("37 of 450 runs finished") && page.contains("This report is partial"));
    let wins = table(&report, "win-tie-loss");
    assert!(wins.notes[0].starts_with("Over the 2 of 30 algorithms"), "{:?}", wins.notes);
}

#[test]
fn unfinished_runs_and_duplicates_are_not_in_means() {
    let mut stopped = done("bfs", "mpnn", 2, 0.1);
    stopped.state = RunState::Unfinished { step: 10, steps: 1000 };
    let mut again = done("bfs", "mpnn", 1, 0.9);
    again.folder = "again".into();
    let runs = [done("bfs", "mpnn", 1, 0.5), stopped, again];
    let report = Report::new(&runs);
    let record = &table(&report, "algorithms").records[0];
    assert_eq!((&record["mean"], &record["runs"], &record["known_runs"]), (&0.5.into(), &1.into(), &2.into()));
    assert_eq!(report.problems, ["again: has the recipe and seeds of runs/bfs-mpnn-1 and counts once"]);
}

#[test]
fn a_finished_run_counts_instead_of_a_planned_one_of_the_same_recipe() {
    let mut planned = done("bfs", "mpnn", 1, 0.1);
    planned.state = RunState::NotStarted;
    let mut moved = done("bfs", "mpnn", 1, 0.9);
    moved.folder = "moved".into();
    let runs = [planned, moved];
    let report = Report::new(&runs);
    assert_eq!(table(&report, "algorithms").records[0]["mean"], 0.9);
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

#[test]
fn of_a_run_and_its_archive_the_one_that_is_further_along_counts() {
    let in_folder = |mut run: ReportRun, folder: &str| {
        run.folder = folder.into();
        run
    };
    let unfinished = |step| {
        let mut run = planned("bfs", "mpnn", 1);
        run.state = RunState::Unfinished { step, steps: 1000 };
        run
    };
    let mut failed = unfinished(900);
    failed.state = RunState::Failed { step: 900, error: "the loss is not a number".into() };
    let trained = || done("bfs", "mpnn", 1, 0.9);
    let mut evaluated = trained();
    evaluated.evaluations.push(test_evaluation("bfs", Steps::Fixpoint, 0.7));
    let pairs = [
        (planned("bfs", "mpnn", 1), unfinished(0)),
        (unfinished(100), unfinished(900)),
        (unfinished(100), failed.clone()),
        (failed, trained()),
        (trained(), evaluated),
    ];
    for (less, more) in pairs {
        let (less, more) = (in_folder(less, "less"), in_folder(more, "more"));
        for runs in [[less.clone(), more.clone()], [more.clone(), less.clone()]] {
            let report = Report::new(&runs);
            assert_eq!(report.results.runs, [&more], "{:?}, {:?}", runs[0].state, runs[1].state);
            assert_eq!(report.problems.len(), usize::from(less.state != RunState::NotStarted), "{:?}", report.problems);
        }
    }
}

#[test]
fn of_gat_and_gatv2_the_better_in_validation_counts() {
    // On bfs, gatv2 validates better and tests worse.
    let runs = [
        with_curve(done("bfs", "gat", 1, 0.9), 0.5),
        with_curve(done("bfs", "gatv2", 1, 0.8), 0.6),
        with_curve(done("dfs", "gat", 1, 0.3), 0.4),
        planned("dfs", "gatv2", 1),
    ];
    let report = Report::new(&runs);
    let algorithms = table(&report, "algorithms");
    assert_eq!(algorithms.header, ["algorithm", "GAT"]);
    let of = |name: &str| algorithms.records.iter().map(|record| record[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("processor"), ["gatv2", "gat"]);
    assert_eq!(of("mean"), [0.8, 0.3]);
    // The choice is not final while a run of the other one is missing.
    assert_eq!(of("complete"), [true, false]);
    assert_eq!(algorithms.rows[2].cells[0].missing, "not all models");
}

#[test]
fn every_column_of_several_models_names_them() {
    let runs: Vec<ReportRun> = [2, 4]
        .into_iter()
        .flat_map(|heads| ["gat_full", "gatv2_full"].map(|processor| (heads, processor)))
        .map(|(heads, processor)| {
            let mut run = with_curve(done("bfs", processor, 1, 0.5), 0.5);
            run.recipe.model.heads = heads;
            run
        })
        .collect();
    let report = Report::new(&runs);
    let names = |heads| {
        format!(
            "GAT (full) heads={heads}: of gat_full and gatv2_full, the one with the highest mean validation score on each algorithm, \
             as in the paper (gat_full on 1, gatv2_full on 0)."
        )
    };
    let notes = &table(&report, "algorithms").notes;
    assert!([2, 4].map(names).iter().all(|note| notes.contains(note)), "{notes:?}");
}

#[test]
fn variants_of_a_model_compete_only_if_they_differ_in_the_processor_alone() {
    let run = |processor: &str, hidden: usize, seed: u32, validation: f64| {
        let mut run = with_curve(done("bfs", processor, seed, 0.5 + 0.01 * f64::from(seed)), validation);
        run.recipe.model.hidden = hidden;
        run
    };
    let cells = [("pgn", 4, 0.5), ("pgn", 6, 0.9), ("pgn_mask", 4, 0.4), ("pgn_mask", 6, 0.6)];
    let runs: Vec<ReportRun> =
        cells.into_iter().flat_map(|(processor, hidden, score)| [1, 2].map(|seed| run(processor, hidden, seed, score))).collect();
    let report = Report::new(&runs);
    let labels: Vec<&str> = table(&report, "win-tie-loss").rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["PGN hidden=4", "PGN hidden=6"]);
}

#[test]
fn metrics_that_no_run_has_are_not_missing_and_departures_from_the_paper_are_noted() {
    let runs = [done("bfs", "mpnn", 1, 0.5), planned("dfs", "mpnn", 1)];
    let report = Report::new(&runs);
    let metrics = &table(&report, "metrics").rows;
    let fixpoint = |row: usize| (metrics[row].cells[2].text.as_str(), metrics[row].cells[2].missing.as_str());
    assert_eq!((fixpoint(0), fixpoint(1)), (("–", ""), ("", "0 of 1 runs")));
    let note = report.notes.iter().find(|note| note.contains("not trained as the paper's were")).expect("a note");
    assert!(note.contains("feedback=soft") && note.contains("steps=1000") && !note.contains("hidden="), "{note}");
}

#[test]
fn tables_look_as_in_their_snapshots() {
    let runs = sweep();
    let report = Report::new(&runs);
    for format in [Format::Terminal, Format::Markdown, Format::Latex] {
        let text: Vec<String> = report.tables.iter().map(|table| table.to_text(format)).collect();
        assert_snapshot(&format!("tables.{}", format.extension()), &text.join("\n"));
    }
    for format in [Format::Csv, Format::Json] {
        assert_snapshot(&format!("algorithms.{}", format.extension()), &table(&report, "algorithms").to_text(format));
    }
}

#[test]
fn names_from_recipes_cannot_break_formats() {
    let runs = [done("bfs", "a_b|c<d>&\"e\",${x}\\", 1, 0.5)];
    let report = Report::new(&runs);
    let algorithms = table(&report, "algorithms");
    assert!(algorithms.to_text(Format::Markdown).contains("a_b\\|c&lt;d>"));
    assert!(algorithms.to_text(Format::Csv).contains("\"a_b|c<d>&\"\"e\"\",${x}\\\""));
    assert!(algorithms.to_text(Format::Latex).contains("a\\_b|c<d>\\&\"e\",\\$\\{x\\}\\textbackslash{}"));
    assert!(report.to_html().contains("a_b|c&lt;d&gt;&amp;&quot;e&quot;,${x}\\"));
}
