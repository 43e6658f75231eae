use std::io::{IsTerminal, Read, Write};

use anyhow::{Context, Result, ensure};
use clap::Args;
use clrs::recorder::StepLocation;
use clrs::{AnyAlgorithm, Cells, RandomState, Recorder, Stage, Trajectory};
use serde_json::{Value, json};

use crate::arguments::{self, Drawing};

pub(super) mod render;

/// Run an algorithm and show every step
///
/// The problem is drawn, or read as JSON: `--problem FILE`, or `-` for standard input. What `--json` prints can be fed back.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of the algorithm (`clrs list`)
    algorithm: String,
    #[command(flatten)]
    drawing: Drawing,
    /// A problem of your own, as JSON (`clrs trace ALGORITHM --json` prints one under "problem")
    #[arg(long, value_name = "FILE", conflicts_with_all = ["size", "seed", "settings"])]
    problem: Option<String>,
    /// As JSON: the problem, and every probe with the file and line of every step
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let algorithm = arguments::algorithm(&arguments.algorithm)?;
    let mut recorder = algorithm.recorder();
    let problem = match &arguments.problem {
        Some(path) => read_problem(path, algorithm.name())?,
        None => draw_problem(algorithm, &arguments.drawing)?,
    };
    algorithm.record_json(&problem, &mut recorder)?;
    if arguments.json {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, &as_json(algorithm, &problem, &recorder)?)?;
        return Ok(writeln!(out)?);
    }
    let colours = std::io::stdout().is_terminal();
    let mut out = anstream::stdout().lock();
    render::trajectory(&mut out, algorithm, &recorder, colours)?;
    Ok(())
}

fn draw_problem(algorithm: &dyn AnyAlgorithm, drawing: &Drawing) -> Result<String> {
    let mut draws = algorithm.problem_buffer(drawing.size, &drawing.settings()?)?;
    draws.draw(&mut RandomState::new(drawing.seed))?;
    Ok(draws.json(0))
}

/// A problem, or a whole trace that has one.
fn read_problem(path: &str, algorithm: &str) -> Result<String> {
    let mut text = String::new();
    if path == "-" {
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    } else {
        text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    }
    Ok(match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(mut trace)) => match trace.remove("problem") {
            Some(problem) => {
                let of = trace.get("algorithm").and_then(Value::as_str).unwrap_or(algorithm);
                ensure!(of == algorithm, "{path} is a trace of {of}, not of {algorithm}");
                problem.to_string()
            }
            None => text,
        },
        // What is wrong with it is said once the algorithm's problem is read.
        _ => text,
    })
}

/// The trace as JSON; `docs/json.md` describes it.
fn as_json(algorithm: &dyn AnyAlgorithm, problem: &str, recorder: &Recorder) -> Result<Value> {
    let run = recorder.trajectories().get(0);
    let problem: Value = serde_json::from_str(problem)?;
    let sites: Vec<Value> =
        recorder.step_locations(0).iter().map(|site| json!({ "file": site.file(), "line": site.line() })).collect();
    let probes = run.iter().map(|(probe, cells)| {
        let width = probe.width(run.nodes());
        let rows = (0..probe.rows(run.steps())).map(|row| json!(cells.slice(row * width..(row + 1) * width)));
        let values = if probe.stage == Stage::Hint { rows.collect::<Value>() } else { json!(cells) };
        json!({
            "name": probe.name, "stage": probe.stage, "location": probe.location, "kind": probe.kind,
            "meaning": probe.description, "values": values,
        })
    });
    Ok(json!({
        "algorithm": algorithm.name(),
        "problem": problem,
        "nodes": run.nodes(),
        "steps": run.steps(),
        "probes": probes.collect::<Vec<_>>(),
        "sites": sites,
    }))
}

/// What a step shows: the run, its place in it, and where it was recorded.
struct Step<'r> {
    run: Trajectory<'r>,
    place: usize,
    site: StepLocation,
}

impl<'r> Step<'r> {
    /// The row of the probe at a place of the spec, and the row before it, if there is one.
    fn row(&self, place: usize) -> (Cells<'r>, Option<Cells<'r>>) {
        let width = self.run.spec()[place].width(self.run.nodes());
        let row = |step: usize| self.run.cells(place).slice(step * width..(step + 1) * width);
        (row(self.place), self.place.checked_sub(1).map(row))
    }
}
