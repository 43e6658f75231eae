//! What was run: recipes, seeds, versions, machines, commands, and every run.

use std::fmt::Write;

use crate::figures::svg::escaped;
use crate::report::Report;
use crate::runs::{ReportRun, RunState};

pub(super) fn section(report: &Report<'_>) -> String {
    let mut out = "<section id=\"runs\">\n<h2>What was run</h2>\n".to_owned();
    out += &list(&report.facts());
    let (varied, common) = report.recipe_fields();
    if !varied.is_empty() {
        out += "<h3>Recipe fields that differ between runs</h3>\n";
        out += &list(&varied);
    }
    if !common.is_empty() {
        out += "<h3>Recipe fields of all runs</h3>\n";
        out += &list(&common).replacen("<dl>", "<dl class=\"fields\">", 1);
    }
    let runs = &report.results.runs;
    let _ = writeln!(out, "<details><summary>All {} runs</summary>", runs.len());
    out += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All runs\">\n<table>\n<thead><tr><th scope=\"col\">run</th>\
            <th scope=\"col\" class=\"text\">algorithms</th><th scope=\"col\" class=\"text\">processor</th><th scope=\"col\">seed</th>\
            <th scope=\"col\">data seed</th><th scope=\"col\" class=\"text\">state</th><th scope=\"col\">best step</th>\
            <th scope=\"col\">evaluations</th></tr></thead>\n<tbody>\n";
    for run in runs {
        out += &row(run);
    }
    out + "</tbody>\n</table>\n</div>\n</details>\n</section>\n"
}

fn list(items: &[(String, String)]) -> String {
    let item = |(name, value): &(String, String)| format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(value));
    format!("<dl>\n{}</dl>\n", items.iter().map(item).collect::<String>())
}

fn row(run: &ReportRun) -> String {
    let algorithms = match run.recipe.algorithms.as_slice() {
        [one] => one.clone(),
        several => format!("{} algorithms", several.len()),
    };
    let state = match &run.state {
        RunState::NotStarted => "not started".into(),
        RunState::Unfinished { step, steps } => format!("unfinished, {step} of {steps} steps"),
        RunState::Failed { step, error } => format!("failed after step {step}: {error}"),
        RunState::Done => "finished".into(),
    };
    let best = run.best_step.map(|step| step.to_string()).unwrap_or_default();
    let [folder, algorithms, processor, state] =
        [&run.folder.display().to_string(), &algorithms, &run.recipe.model.processor, &state].map(|text| escaped(text));
    format!(
        "<tr><th scope=\"row\">{folder}</th><td class=\"text\">{algorithms}</td><td class=\"text\">{processor}</td><td>{}</td><td>{}</td>\
         <td class=\"text\">{state}</td><td>{best}</td><td>{}</td></tr>\n",
        run.recipe.seed,
        run.recipe.data_seed,
        run.evaluations.len()
    )
}
