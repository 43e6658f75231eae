//! The batch script of a job array.

use std::path::Path;
use std::time::Duration;

use super::SlurmError;
use crate::worker;

/// What a script is for.
#[derive(Clone, Debug)]
pub(super) struct Script<'s> {
    /// The program `clrs`.
    pub(super) program: &'s Path,
    /// Directory of the sweep, absolute.
    pub(super) sweep: &'s Path,
    /// Name of the sweep.
    pub(super) sweep_name: &'s str,
    /// Name of the script's files.
    pub(super) name: &'s str,
    /// Number of array tasks.
    pub(super) array_tasks: usize,
    /// Threads of each.
    pub(super) cpus_per_task: usize,
    /// Time limit, as Slurm has it.
    pub(super) time: Option<&'s str>,
    /// Number of array tasks at once.
    pub(super) max_parallel: Option<usize>,
    /// Other arguments of `sbatch`.
    pub(super) arguments: &'s [String],
}

/// Seconds between the signal and the time limit: the longest step or validation batch, and a checkpoint.
const SIGNAL_SECONDS: u64 = 120;

impl Script<'_> {
    /// The text of the script.
    pub(super) fn text(&self) -> Result<String, SlurmError> {
        let quoted = |path: &Path| {
            let text = path.to_str().filter(|text| !text.contains(['\'', '\n', '%', '\\']));
            text.map(|text| format!("'{text}'")).ok_or_else(|| SlurmError::Path(path.into()))
        };
        let directory = self.sweep.join(super::jobs::DIRECTORY);
        let (program, sweep) = (quoted(self.program)?, quoted(self.sweep)?);
        let tasks = quoted(&directory.join(format!("{}.tasks", self.name)))?;
        let logs = directory.join("logs");
        let logs = quoted(&logs)?.trim_matches('\'').to_string();
        let job_name: String = self.sweep_name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let last = self.array_tasks.saturating_sub(1);
        let limit = self.max_parallel.map(|limit| format!("%{limit}")).unwrap_or_default();
        let time = self.time.map(|time| format!("#SBATCH --time={time}\n")).unwrap_or_default();
        let arguments = directives(self.arguments)?;
        let (cpus, name, stopped) = (self.cpus_per_task, self.name, worker::STOPPED_EXIT_CODE);
        Ok(format!(
            r#"#!/bin/bash
# Written by `clrs sweep submit`. Array task I executes the runs whose numbers are in line I + 1 of {name}.tasks.
#SBATCH --job-name=clrs-{job_name}
#SBATCH --array=0-{last}{limit}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={cpus}
{time}#SBATCH --output="{logs}/%A_%a.log"
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:USR2@{SIGNAL_SECONDS}
{arguments}
# Slurm signals this shell. USR1 and USR2 announce the time limit or a preemption: save a checkpoint and get back in the queue. TERM
# comes from scancel, and from a preemption after which Slurm itself requeues the job: only save a checkpoint.
requeue=no
signalled=no
pid=
trap 'requeue=yes; signalled=yes; [ -z "$pid" ] || kill -USR2 "$pid" 2>/dev/null' USR1 USR2
trap 'signalled=yes; [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null' TERM

runs=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" {tasks})
{program} sweep run {sweep} --task "$runs" --threads {cpus} &
pid=$!

# A signal ends `wait` before the program has ended. 127: it had ended, and its exit code is known.
wait "$pid"
code=$?
while [ "$signalled" = yes ]; do
    signalled=no
    wait "$pid" 2>/dev/null
    again=$?
    [ "$again" -eq 127 ] || code=$again
done

# Exit code {stopped}: stopped with a checkpoint. If the cluster refuses to requeue, the next `clrs sweep submit` continues the run.
if [ "$code" -eq {stopped} ] && [ "$requeue" = yes ]; then
    scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
fi
exit "$code"
"#
        ))
    }
}

/// Arguments of `sbatch` as lines of a script. A value follows the option before it.
fn directives(arguments: &[String]) -> Result<String, SlurmError> {
    let mut lines = String::new();
    for argument in arguments {
        if argument.contains(['"', '\n', '\\']) {
            return Err(SlurmError::Argument(argument.clone()));
        }
        let (option, value) = match argument.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (format!("{option}="), value),
            _ => (String::new(), argument.as_str()),
        };
        let value = if value.contains(char::is_whitespace) { format!("\"{value}\"") } else { value.to_string() };
        let start = match (lines.is_empty(), argument.starts_with('-')) {
            (false, false) => " ",
            (false, true) => "\n#SBATCH ",
            (true, _) => "#SBATCH ",
        };
        lines.extend([start, &option, &value]);
    }
    if !lines.is_empty() {
        lines.push('\n');
    }
    Ok(lines)
}

/// Parses a time limit as `sbatch --time` has it: minutes, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM` or `D-HH:MM:SS`.
///
/// # Errors
/// If it has another form, or is so short that the announcement of its end would come at its beginning.
pub fn parse_time_limit(text: &str) -> Result<Duration, SlurmError> {
    let invalid = || SlurmError::TimeLimit(text.into());
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days.parse::<u64>().map_err(|_| invalid())?), rest),
        None => (None, text),
    };
    let parts = rest.split(':').map(str::parse::<u64>).collect::<Result<Vec<u64>, _>>().map_err(|_| invalid())?;
    let [hours, minutes, seconds] = match (days, &parts[..]) {
        (Some(_), [hours]) => [*hours, 0, 0],
        (Some(_), [hours, minutes]) => [*hours, *minutes, 0],
        (_, [hours, minutes, seconds]) => [*hours, *minutes, *seconds],
        (None, [minutes]) => [0, *minutes, 0],
        (None, [minutes, seconds]) => [0, *minutes, *seconds],
        _ => return Err(invalid()),
    };
    let total = || {
        let hours = days.unwrap_or(0).checked_mul(24)?.checked_add(hours)?;
        hours.checked_mul(60)?.checked_add(minutes)?.checked_mul(60)?.checked_add(seconds)
    };
    total().filter(|seconds| *seconds >= 2 * SIGNAL_SECONDS).map(Duration::from_secs).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_are_those_of_sbatch() {
        let seconds = |text: &str| parse_time_limit(text).map(|time| time.as_secs()).ok();
        assert_eq!(
            ["90", "10:30", "01:00:00", "2-0", "1-2:30", "1-00:00:01"].map(seconds),
            [Some(5400), Some(630), Some(3600), Some(172_800), Some(95_400), Some(86_401)]
        );
        assert_eq!(["", "3", "1h", "1:2:3:4", "99999999999999999999"].map(seconds), [None; 5]);
    }

    #[test]
    fn a_script_is_readable_and_names_everything() {
        let script = Script {
            program: Path::new("/opt/clrs"),
            sweep: Path::new("/data/my sweep"),
            sweep_name: "quick test",
            name: "job-001",
            array_tasks: 12,
            cpus_per_task: 2,
            time: Some("04:00:00"),
            max_parallel: Some(4),
            arguments: &["--partition".into(), "cpu".into(), "--account=me".into(), "--comment=two words".into()],
        };
        let text = script.text().expect("a script");
        for line in [
            "#SBATCH --job-name=clrs-quick-test\n#SBATCH --array=0-11%4\n",
            "#SBATCH --partition cpu\n#SBATCH --account=me\n#SBATCH --comment=\"two words\"\n",
            "#SBATCH --time=04:00:00\n#SBATCH --output=\"/data/my sweep/slurm/logs/%A_%a.log\"\n",
            "'/opt/clrs' sweep run '/data/my sweep' --task \"$runs\" --threads 2 &\n",
            "if [ \"$code\" -eq 75 ] && [ \"$requeue\" = yes ]; then\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let odd = Script { sweep: Path::new("/data/it's"), ..script.clone() };
        assert!(odd.text().is_err());
        assert!(Script { arguments: &["--comment=a\nb".into()], ..script }.text().is_err());
    }
}
