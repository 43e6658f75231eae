//! How long work goes on: a bar in a terminal, plain lines elsewhere. Ctrl-C asks the work to stop.

use std::io::{IsTerminal, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clrs_store::generate::{Made, Plan, Progress};
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

    pub(crate) fn finish(&self) {
        self.terminal.finish_and_clear();
    }
}

impl Progress for Bar {
    fn samples(&self, _plan: &Plan, count: usize) {
        self.terminal.inc(count as u64);
        if let Some(plain) = &self.plain {
            plain.samples(count);
        }
    }

    fn done(&self, plan: &Plan, _made: &Made) {
        self.whole.fetch_add(1, Ordering::Relaxed);
        self.terminal.set_message(plan.name.clone());
    }

    fn stop(&self) -> bool {
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
