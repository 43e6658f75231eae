//! A real Slurm cluster of two nodes on this machine, as a process group of the test: munge, a controller and two node daemons, all on the
//! loopback address, in a temporary directory.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub(crate) const NODES: [&str; 2] = ["n1", "n2"];

pub(crate) struct Cluster {
    directory: tempfile::TempDir,
    munge: Child,
    controller: Option<Child>,
    nodes: Vec<Child>,
}

/// Where Debian puts daemons.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

impl Cluster {
    /// Why a cluster cannot be started here, if it cannot.
    pub(crate) fn missing() -> Option<String> {
        let exists = |name: &&str| PATH.split(':').any(|folder| Path::new(folder).join(name).exists());
        let programs = ["munged", "slurmctld", "slurmd", "sbatch"];
        programs.iter().find(|name| !exists(name)).map(|name| format!("`{name}` is not installed"))
    }

    pub(crate) fn start() -> Cluster {
        let directory = tempfile::Builder::new().prefix("slurm").tempdir().expect("a directory");
        let path = directory.path();
        let folder = |name: &str, mode: u32| {
            fs::create_dir(path.join(name)).expect("a directory");
            fs::set_permissions(path.join(name), fs::Permissions::from_mode(mode)).expect("permissions");
        };
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
        for (name, mode) in [("munge", 0o755), ("state", 0o700), ("spool", 0o755), ("log", 0o755)] {
            folder(name, mode);
        }
        fs::write(path.join("plugstack.conf"), "").expect("written");
        fs::write(path.join("munge.key"), [7u8; 128]).expect("written");
        fs::set_permissions(path.join("munge.key"), fs::Permissions::from_mode(0o600)).expect("permissions");
        fs::write(path.join("slurm.conf"), config(path)).expect("written");
        let at = |name: &str| path.join(name).display().to_string();
        let munge = spawn(
            path,
            "munged",
            &[
                "--foreground".into(),
                format!("--socket={}", at("munge/s")),
                format!("--key-file={}", at("munge.key")),
                format!("--pid-file={}", at("munged.pid")),
                format!("--log-file={}", at("log/munged.log")),
                format!("--seed-file={}", at("munged.seed")),
                "--num-threads=1".into(),
            ],
        );
        wait_for("the socket of munge", || path.join("munge/s").exists());
        let nodes = NODES.iter().map(|node| spawn(path, "slurmd", &["-D".into(), "-N".into(), (*node).into()])).collect();
        let mut cluster = Cluster { directory, munge, controller: None, nodes };
        cluster.start_controller();
        wait_for("both nodes", || cluster.try_run("sinfo", &["-h", "-N", "-t", "idle", "-o", "%N"]).lines().count() == 2);
        cluster
    }

    pub(crate) fn start_controller(&mut self) {
        self.controller = Some(spawn(self.directory.path(), "slurmctld", &["-D".into()]));
        wait_for("the controller", || self.command("scontrol", &["ping"]).output().is_ok_and(|ping| ping.status.success()));
    }

    pub(crate) fn stop_controller(&mut self) {
        if let Some(controller) = self.controller.take() {
            end(controller);
        }
    }

    /// A command that talks to this cluster.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env("SLURM_CONF", self.directory.path().join("slurm.conf"));
        command.env("PATH", PATH).stdin(Stdio::null());
        command
    }

    pub(crate) fn output(&self, program: &str, arguments: &[&str]) -> Output {
        self.command(program, arguments).output().expect("the program starts")
    }

    /// Standard output of a command that must succeed.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.output(program, arguments);
        assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Standard output of a command that may fail.
    pub(crate) fn try_run(&self, program: &str, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.output(program, arguments).stdout).into_owned()
    }

    /// State of an array task: `RUNNING`, `PENDING`, ..
    pub(crate) fn state(&self, task: &str) -> String {
        self.try_run("squeue", &["-h", "-r", "-t", "all", "-j", task, "-o", "%T"]).trim().into()
    }

    /// Lets a requeued task start at once instead of after two minutes.
    pub(crate) fn start_requeued(&self, task: &str) {
        wait_for("the task is in the queue again", || self.state(task) == "PENDING");
        // Earlier, the node still knows the old job, refuses the new one, and the controller holds it. Nothing shows when that is over.
        std::thread::sleep(Duration::from_secs(3));
        self.try_run("scontrol", &["update", &format!("jobid={task}"), "starttime=now"]);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for log in ["log/slurmctld.log", "log/slurmd-n1.log", "log/slurmd-n2.log"] {
                let text = fs::read_to_string(self.directory.path().join(log)).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                eprintln!("-- {log}\n{}", lines[lines.len().saturating_sub(15)..].join("\n"));
            }
        }
        self.try_run("scancel", &["--me"]);
        let deadline = Instant::now() + Duration::from_secs(8);
        while Instant::now() < deadline && !self.try_run("squeue", &["-h"]).trim().is_empty() {
            std::thread::sleep(Duration::from_millis(100));
        }
        for node in self.nodes.drain(..) {
            end(node);
        }
        self.stop_controller();
        let _ = Command::new("kill").arg(self.munge.id().to_string()).status();
        let _ = self.munge.wait();
        // Programs whose batch script was killed.
        for process in processes() {
            if process.environment.contains(&format!("SLURM_CONF={}", self.directory.path().display()))
                && process.environment.contains("SLURM_JOB_ID=")
            {
                let _ = Command::new("kill").args(["-KILL", &process.id]).status();
            }
        }
    }
}

pub(crate) struct Process {
    pub(crate) id: String,
    pub(crate) arguments: Vec<String>,
    environment: String,
}

/// All processes of this machine that can be read.
pub(crate) fn processes() -> Vec<Process> {
    let read = |path: PathBuf| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let process = |entry: fs::DirEntry| {
        let id = entry.file_name().into_string().ok().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))?;
        let arguments = read(entry.path().join("cmdline")).ok()?.split('\0').map(String::from).collect();
        Some(Process { id, arguments, environment: read(entry.path().join("environ")).unwrap_or_default() })
    };
    fs::read_dir("/proc").expect("Linux").flatten().filter_map(process).collect()
}

/// Waits until a condition holds.
pub(crate) fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(3);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: waited too long");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn spawn(directory: &Path, program: &str, arguments: &[String]) -> Child {
    let path = PATH.split(':').map(|folder| Path::new(folder).join(program)).find(|path| path.exists()).expect("installed");
    let mut command = Command::new(path);
    command.args(arguments).env("SLURM_CONF", directory.join("slurm.conf")).env("PATH", PATH);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the daemon starts")
}

fn end(mut daemon: Child) {
    let _ = Command::new("kill").arg(daemon.id().to_string()).status();
    let deadline = Instant::now() + Duration::from_secs(5);
    while Instant::now() < deadline && daemon.try_wait().is_ok_and(|status| status.is_none()) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = daemon.kill();
    let _ = daemon.wait();
}

/// Distinct ports: none is released before the last one is taken.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    listeners.each_ref().map(|listener| listener.local_addr().expect("an address").port())
}

fn config(path: &Path) -> String {
    let host =
        fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux").trim().split('.').next().unwrap_or_default().to_string();
    let user = Command::new("id").arg("-un").output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let (user, path) = (user.expect("a user"), path.display());
    let [controller, ports @ ..] = free_ports::<{ NODES.len() + 1 }>();
    let node =
        |(node, port)| format!("NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=1000\n");
    let nodes: String = NODES.iter().zip(ports).map(node).collect();
    format!(
        "ClusterName=test{pid}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={path}/munge/s
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={path}/state
SlurmdSpoolDir={path}/spool/%n
SlurmctldPidFile={path}/slurmctld.pid
SlurmdPidFile={path}/slurmd-%n.pid
SlurmctldLogFile={path}/log/slurmctld.log
SlurmdLogFile={path}/log/slurmd-%n.log
PlugStackConfig={path}/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_min_interval=0,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
KillWait=5
SlurmctldTimeout=30
SlurmdTimeout=30
{nodes}PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
",
        pid = std::process::id(),
        port = controller,
    )
}
