//! How long work goes on: a bar in a terminal, plain lines elsewhere. Ctrl-C asks the work to stop.

use std::io::{IsTerminal, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clrs_store::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Set by Ctrl-C; a second one ends the program at once.
static STOP: AtomicBool = AtomicBool::new(false);

/// Where there is no terminal, a line this often.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// Samples done, the rate and the time left.
pub(crate) struct Bar {
    terminal: ProgressBar,
    plain: Option<Plain>,
    whole: AtomicUsize,
}

struct Plain {
    started: Instant,
    /// Lines written so far.
    lines: AtomicUsize,
    done: AtomicUsize,
    total: usize,
}

impl Bar {
    pub(crate) fn new(samples: usize, quiet: bool) -> Bar {
        stop_on_ctrl_c();
        let terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::new(samples as u64);
        if quiet || !terminal {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = "{wide_bar} {human_pos}/{human_len} samples  {per_sec}  {eta} left  {msg}";
        bar.set_style(ProgressStyle::with_template(style).expect("a valid template"));
        let plain = Plain { started: Instant::now(), lines: 0.into(), done: 0.into(), total: samples };
        Bar { terminal: bar, plain: (!quiet && !terminal).then_some(plain), whole: 0.into() }
    }

    /// How many sets are whole.
    pub(crate) fn whole(&self) -> usize {
        self.whole.load(Ordering::Relaxed)
    }

    /// So many more samples are done.
    pub(crate) fn add(&self, count: usize) {
        self.terminal.inc(count as u64);
        if let Some(plain) = &self.plain {
            plain.samples(count);
        }
    }

    pub(crate) fn finish(&self) {
        self.terminal.finish_and_clear();
    }
}

impl Progress for Bar {
    fn add_samples(&self, _name: &str, count: usize) {
        self.add(count);
    }

    fn finish_set(&self, name: &str) {
        self.whole.fetch_add(1, Ordering::Relaxed);
        self.terminal.set_message(name.to_owned());
    }

    fn is_cancelled(&self) -> bool {
        STOP.load(Ordering::Relaxed)
    }
}

impl Plain {
    fn samples(&self, count: usize) {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        let seconds = self.started.elapsed().as_secs_f64();
        let due = PLAIN_EVERY.as_secs_f64() * (self.lines.load(Ordering::Relaxed) + 1) as f64;
        if seconds >= due {
            self.lines.fetch_add(1, Ordering::Relaxed);
            let rate = done as f64 / seconds;
            let left = (self.total - done) as f64 / rate;
            let _ = writeln!(std::io::stderr(), "{done}/{} samples, {rate:.0} per second, {left:.0} s left", self.total);
        }
    }
}

/// Steps of training: the loss, the last validation score, the rate and the time left.
#[cfg(feature = "networks")]
pub(crate) struct Steps {
    terminal: ProgressBar,
    plain: bool,
    started: Instant,
    lines: usize,
    first: usize,
    total: usize,
    score: Option<f64>,
}

#[cfg(feature = "networks")]
impl Steps {
    pub(crate) fn new(first: usize, steps: usize, quiet: bool) -> Steps {
        stop_on_ctrl_c();
        let terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::new(steps as u64);
        if quiet || !terminal {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = "{wide_bar} step {human_pos}/{human_len}  {msg}  {per_sec}  {eta} left";
        bar.set_style(ProgressStyle::with_template(style).expect("a valid template"));
        bar.set_position(first as u64);
        bar.reset_eta();
        Steps { terminal: bar, plain: !quiet && !terminal, started: Instant::now(), lines: 0, first, total: steps, score: None }
    }

    pub(crate) fn step(&mut self, step: usize, loss: f64) {
        let score = self.score.map_or(String::new(), |score| format!(", validation {:.2}%", 100.0 * score));
        self.terminal.set_position(step as u64);
        self.terminal.set_message(format!("loss {loss:.4}{score}"));
        let seconds = self.started.elapsed().as_secs_f64();
        if self.plain && seconds >= PLAIN_EVERY.as_secs_f64() * (self.lines + 1) as f64 {
            self.lines += 1;
            let rate = (step - self.first) as f64 / seconds;
            let left = (self.total - step) as f64 / rate;
            let steps = self.total;
            let _ = writeln!(
                std::io::stderr(),
                "step {step}/{steps}, loss {loss:.4}{score}, {rate:.1} steps per second, {left:.0} s left"
            );
        }
    }

    pub(crate) fn validation(&mut self, score: f64) {
        self.score = Some(score);
    }

    pub(crate) fn finish(&self) {
        self.terminal.finish_and_clear();
    }
}

/// Whether Ctrl-C was pressed.
#[cfg(feature = "networks")]
pub(crate) fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

fn stop_on_ctrl_c() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let handler = || {
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        };
        // Without a handler, Ctrl-C ends the program: files are still whole or absent.
        let _ = ctrlc::set_handler(handler);
    });
}
