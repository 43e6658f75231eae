//! Progress: a bar in a terminal, plain lines elsewhere. Ctrl-C asks the work to stop.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

use clrs_store::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::error::Interrupted;

/// Set by Ctrl-C; another Ctrl-C after a second ends the program at once.
static STOP: AtomicBool = AtomicBool::new(false);

/// Time between two lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Samples done, the rate and, if the total is known, the time left.
pub(crate) struct SampleBar {
    terminal: ProgressBar,
    plain: Option<PlainLines>,
    sets: AtomicUsize,
}

struct PlainLines {
    started: Instant,
    lines: AtomicUsize,
    done: AtomicUsize,
    total: Option<usize>,
}

impl SampleBar {
    /// A bar for a number of samples; `None` if it is unknown.
    pub(crate) fn new(samples: Option<usize>, quiet: bool) -> SampleBar {
        let style = match samples {
            Some(_) => "{wide_bar} {human_pos}/{human_len} samples  {per_sec}  {eta} left  {msg}",
            None => "{spinner} {human_pos} samples  {per_sec}  {msg}",
        };
        let bar = terminal_bar(samples.map(|samples| samples as u64), style, quiet);
        let is_plain = !quiet && !std::io::stderr().is_terminal();
        let plain = PlainLines { started: Instant::now(), lines: 0.into(), done: 0.into(), total: samples };
        SampleBar { terminal: bar, plain: is_plain.then_some(plain), sets: 0.into() }
    }

    /// Number of complete sets.
    pub(crate) fn sets(&self) -> usize {
        self.sets.load(Ordering::Relaxed)
    }

    /// Counts samples.
    pub(crate) fn add(&self, count: usize) {
        self.terminal.inc(count as u64);
        if let Some(plain) = &self.plain {
            plain.add(count);
        }
    }

    pub(crate) fn finish(&self) {
        self.terminal.finish_and_clear();
    }
}

impl Progress for SampleBar {
    fn add_samples(&self, _name: &str, count: usize) {
        self.add(count);
    }

    fn finish_set(&self, name: &str) {
        self.sets.fetch_add(1, Ordering::Relaxed);
        self.terminal.set_message(name.to_owned());
    }

    fn is_cancelled(&self) -> bool {
        is_stopped()
    }
}

impl PlainLines {
    fn add(&self, count: usize) {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        let seconds = self.started.elapsed().as_secs_f64();
        let due = LINE_INTERVAL.as_secs_f64() * (self.lines.load(Ordering::Relaxed) + 1) as f64;
        if seconds < due {
            return;
        }
        self.lines.fetch_add(1, Ordering::Relaxed);
        let rate = done as f64 / seconds;
        let mut out = std::io::stderr();
        let _ = match self.total {
            None => writeln!(out, "{done} samples, {rate:.0} per second"),
            Some(total) => {
                let left = total.saturating_sub(done) as f64 / rate;
                writeln!(out, "{done}/{total} samples, {rate:.0} per second, {left:.0} s left")
            }
        };
    }
}

/// Training steps: the loss, the last validation score, the rate and the time left.
#[cfg(feature = "networks")]
pub(crate) struct StepBar {
    terminal: ProgressBar,
    plain: bool,
    started: Instant,
    lines: usize,
    first: usize,
    total: usize,
    loss: f64,
    score: Option<f64>,
}

#[cfg(feature = "networks")]
impl StepBar {
    pub(crate) fn new(first: usize, steps: usize, quiet: bool) -> StepBar {
        let style = "{wide_bar} step {human_pos}/{human_len}  {msg}  {per_sec}  {eta} left";
        let bar = terminal_bar(Some(steps as u64), style, quiet);
        bar.set_position(first as u64);
        bar.reset_eta();
        StepBar {
            terminal: bar,
            plain: !quiet && !std::io::stderr().is_terminal(),
            started: Instant::now(),
            lines: 0,
            first,
            total: steps,
            loss: f64::NAN,
            score: None,
        }
    }

    pub(crate) fn step(&mut self, step: usize, loss: f64) {
        self.loss = loss;
        self.terminal.set_position(step as u64);
        let message = self.message();
        self.terminal.set_message(message.clone());
        let seconds = self.started.elapsed().as_secs_f64();
        if self.plain && seconds >= LINE_INTERVAL.as_secs_f64() * (self.lines + 1) as f64 {
            self.lines += 1;
            let rate = (step - self.first) as f64 / seconds;
            let left = (self.total - step) as f64 / rate;
            let steps = self.total;
            let _ = writeln!(std::io::stderr(), "step {step}/{steps}, {message}, {rate:.1} steps per second, {left:.0} s left");
        }
    }

    pub(crate) fn validating(&self) {
        self.terminal.set_message(format!("{}, validating", self.message()));
    }

    pub(crate) fn validated(&mut self, score: f64) {
        self.score = Some(score);
        self.terminal.set_message(self.message());
    }

    pub(crate) fn finish(&self) {
        self.terminal.finish_and_clear();
    }

    fn message(&self) -> String {
        let score = self.score.map_or(String::new(), |score| format!(", validation {:.2}%", 100.0 * score));
        format!("loss {:.4}{score}", self.loss)
    }
}

/// Whether Ctrl-C was pressed.
pub(crate) fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

fn terminal_bar(length: Option<u64>, style: &str, quiet: bool) -> ProgressBar {
    stop_on_ctrl_c();
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    if quiet || !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.set_style(ProgressStyle::with_template(style).expect("a valid template"));
    bar
}

/// Asks the work to stop on the signals of schedulers, too: USR1 and USR2.
#[cfg(feature = "networks")]
pub(crate) fn stop_on_signals() {
    stop_on_ctrl_c();
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGUSR1, SIGUSR2};
        on_signals(&[SIGUSR1, SIGUSR2], || STOP.store(true, Ordering::Relaxed));
    }
}

/// Asks the work to stop on Ctrl-C, and on TERM. HUP keeps its action, which `nohup` sets.
fn stop_on_ctrl_c() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without a handler, Ctrl-C ends the program: files are still complete or absent.
        let _ = ctrlc::set_handler(stop);
        #[cfg(unix)]
        on_signals(&[signal_hook::consts::SIGTERM], stop);
    });
}

fn stop() {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    STOP.store(true, Ordering::Relaxed);
    // A signal to a process group may arrive twice: directly, and forwarded by the shell of a batch job.
    if FIRST.get_or_init(Instant::now).elapsed() > Duration::from_secs(1) {
        std::process::exit(Interrupted::EXIT_CODE.into());
    }
}

#[cfg(unix)]
fn on_signals(signals: &[i32], action: fn()) {
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) {
        std::thread::spawn(move || signals.forever().for_each(|_| action()));
    }
}
