//! The progress of many runs: a line for each in a terminal, plain lines elsewhere.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clrs_sweep::local::{Observer, RunEnd};
use clrs_sweep::plan::Plan;
use clrs_sweep::status::{RunProgress, State};
use clrs_sweep::worker::{Outcome, RunEvent};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::progress::is_stopped;
use crate::table::plural;

/// Time between two lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(30);
/// Time between two updates of a line in a terminal.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);

/// Shows the progress of all runs, and stops them at the deadline.
pub(super) struct View<'p> {
    plan: &'p Plan,
    /// What each run is.
    labels: Vec<String>,
    deadline: Option<Instant>,
    output: Output,
    state: Mutex<ViewState>,
}

enum Output {
    Terminal { lines: MultiProgress, total: ProgressBar },
    Plain,
    Quiet,
}

struct ViewState {
    started: Instant,
    shown: Instant,
    complete: usize,
    failed: usize,
    /// Floating-point operations of each run that are done, and those that were done before the start.
    done: BTreeMap<usize, (f64, f64)>,
    running: BTreeMap<usize, RunLine>,
}

struct RunLine {
    bar: Option<ProgressBar>,
    shown: Instant,
    score: Option<f64>,
}

impl<'p> View<'p> {
    pub(super) fn new(plan: &'p Plan, progress: &[RunProgress], deadline: Option<Instant>, quiet: bool) -> View<'p> {
        let now = Instant::now();
        let done = |run: &RunProgress| {
            let planned = &plan.runs[run.task];
            planned.flops - run.flops_left(planned)
        };
        let done = progress.iter().map(|run| (run.task, (done(run), done(run)))).collect();
        let complete = progress.iter().filter(|run| run.state == State::Complete).count();
        let output = if quiet {
            Output::Quiet
        } else if std::io::stderr().is_terminal() {
            let lines = MultiProgress::new();
            let total = lines.add(ProgressBar::new(1000));
            total.set_style(ProgressStyle::with_template("{wide_bar} {msg}").expect("a valid template"));
            Output::Terminal { lines, total }
        } else {
            Output::Plain
        };
        let state = ViewState { started: now, shown: now, complete, failed: 0, done, running: BTreeMap::new() };
        let view = View { plan, labels: plan.labels(), deadline, output, state: Mutex::new(state) };
        view.show_total(&view.lock());
        view
    }

    pub(super) fn finish(&self) {
        if let Output::Terminal { lines, .. } = &self.output {
            let _ = lines.clear();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ViewState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn about(&self, task: usize) -> &str {
        &self.labels[task]
    }

    /// A line that stays.
    fn print(&self, line: &str) {
        match &self.output {
            Output::Terminal { lines, .. } => {
                let _ = lines.println(line);
            }
            Output::Plain => {
                let _ = writeln!(std::io::stderr(), "{line}");
            }
            Output::Quiet => {}
        }
    }

    fn show_total(&self, state: &ViewState) {
        let Output::Terminal { total, .. } = &self.output else { return };
        let (fraction, _) = self.work(state);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction")]
        total.set_position((1000.0 * fraction) as u64);
        total.set_message(self.summary(state));
    }

    fn summary(&self, state: &ViewState) -> String {
        let (_, left) = self.work(state);
        let left = left.map(|seconds| format!(", {} left", duration(seconds))).unwrap_or_default();
        let failed = if state.failed > 0 { format!(", {} failed", state.failed) } else { String::new() };
        let (complete, runs) = (state.complete, plural(self.plan.runs.len(), "run"));
        format!("{complete} of {runs} complete, {} running{failed}{left}", state.running.len())
    }

    /// The fraction of all work that is done, and the seconds that the rest will take at the rate so far.
    fn work(&self, state: &ViewState) -> (f64, Option<f64>) {
        let (mut total, mut done, mut done_here) = (0.0, 0.0, 0.0);
        for (task, run) in self.plan.runs.iter().enumerate() {
            let (now, before) = state.done.get(&task).copied().unwrap_or_default();
            total += run.flops;
            done += now;
            done_here += now - before;
        }
        let rate = done_here / state.started.elapsed().as_secs_f64().max(1e-3);
        let left = (rate > 0.0 && state.started.elapsed() > Duration::from_secs(2)).then(|| (total - done) / rate);
        (if total > 0.0 { done / total } else { 0.0 }, left)
    }
}

impl Observer for View<'_> {
    fn on_event(&self, task: usize, event: RunEvent) {
        let mut state = self.lock();
        let steps = self.plan.runs[task].recipe.steps;
        let now = Instant::now();
        let line = state.running.entry(task).or_insert_with(|| {
            let bar = if let Output::Terminal { lines, .. } = &self.output {
                let bar = lines.add(ProgressBar::new(steps as u64));
                let style = "  {prefix:36!} {bar:20} {msg}";
                bar.set_style(ProgressStyle::with_template(style).expect("a valid template"));
                bar.set_prefix(self.about(task).to_owned());
                Some(bar)
            } else {
                None
            };
            RunLine { bar, shown: now, score: None }
        });
        let score = |score: Option<f64>| score.map(|score| format!(", validation {:.2}%", 100.0 * score)).unwrap_or_default();
        let (step, message) = match event {
            RunEvent::Started { step } => (Some(step), format!("step {step}/{steps}")),
            RunEvent::Step { step, loss } => (Some(step), format!("step {step}/{steps}, loss {loss:.4}{}", score(line.score))),
            RunEvent::Validated { score: new } => {
                line.score = Some(new);
                return;
            }
            RunEvent::Evaluated { done, total } => (None, format!("evaluation {done}/{total}{}", score(line.score))),
            _ => return,
        };
        if let Some(bar) = &line.bar
            && (now - line.shown >= REDRAW_INTERVAL || !matches!(event, RunEvent::Step { .. }))
        {
            line.shown = now;
            bar.set_position(step.unwrap_or(steps) as u64);
            bar.set_message(message);
        }
        let run = &self.plan.runs[task];
        let done = match event {
            RunEvent::Evaluated { done, total } => run.flops_at(steps) + run.eval_flops * done as f64 / total.max(1) as f64,
            _ => run.flops_at(step.unwrap_or(steps)),
        };
        state.done.entry(task).or_default().0 = done;
        let interval = if matches!(self.output, Output::Plain) { LINE_INTERVAL } else { REDRAW_INTERVAL };
        if now - state.shown >= interval {
            state.shown = now;
            if matches!(self.output, Output::Plain) {
                self.print(&self.summary(&state));
            }
            self.show_total(&state);
        }
    }

    fn on_end(&self, task: usize, end: &RunEnd) {
        let mut state = self.lock();
        let line = state.running.remove(&task);
        let score = line.as_ref().and_then(|line| line.score);
        if let (Some(RunLine { bar: Some(bar), .. }), Output::Terminal { lines, .. }) = (line, &self.output) {
            bar.finish_and_clear();
            lines.remove(&bar);
        }
        let about = self.about(task);
        match end {
            RunEnd::Ok(Outcome::Completed | Outcome::AlreadyComplete) => {
                state.complete += 1;
                state.done.entry(task).or_default().0 = self.plan.runs[task].flops;
                let score = score.map(|score| format!(", last validation {:.2}%", 100.0 * score)).unwrap_or_default();
                self.print(&format!("complete: {about}{score}"));
            }
            RunEnd::Ok(Outcome::InUse) => self.print(&format!("another process executes {about}")),
            RunEnd::Failed(error) => {
                state.failed += 1;
                match self.output {
                    // Whatever fails is always reported.
                    Output::Quiet => {
                        let _ = writeln!(std::io::stderr(), "clrs: {about}: {error}");
                    }
                    _ => self.print(&format!("failed: {about}: {error}")),
                }
            }
            _ => {}
        }
        self.show_total(&state);
    }

    fn is_stopped(&self) -> bool {
        is_stopped() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// A time in its two largest units.
pub(super) fn duration(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let seconds = seconds.max(0.0).round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds.div_ceil(60)),
        3600..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days {} h", seconds / 86400, seconds % 86400 / 3600),
    }
}
