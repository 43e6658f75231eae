use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use clap::Args;
use clrs_web::server::{Config, ServeError, serve};

/// Explore algorithms and networks in a browser: pictures of every step
///
/// Serves one page on this machine. It shows any algorithm on any problem step by step, with its source, and saves pictures and pages to take
/// away. With `--run`, it shows the decisions of trained networks beside the truth, and curves of training. Ctrl-C stops the server.
/// docs/explorer.md describes it.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Port to listen on; 0 for any free one
    #[arg(long, default_value_t = 8030)]
    port: u16,
    /// Address to listen on; `0.0.0.0` for all addresses of this machine, which lets others in the network use the server
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Accept requests to this host name too; can be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Show the network of this run, or of all runs in this directory; can be repeated
    #[cfg(feature = "networks")]
    #[arg(long, value_name = "DIR")]
    run: Vec<std::path::PathBuf>,
    /// Open the page in the default browser
    #[arg(long)]
    open: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let mut config = Config::default();
    config.address = arguments.host;
    config.port = arguments.port;
    config.hosts = arguments.allow_host;
    #[cfg(feature = "networks")]
    if !arguments.run.is_empty() {
        config.runs = std::sync::Arc::new(clrs_web::networks::Runs::open(arguments.run)?);
    }
    let started = |url: &str| {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "The explorer is at {url} (Ctrl-C stops it)");
        let _ = out.flush();
        if arguments.open && !open(url) {
            let _ = writeln!(std::io::stderr(), "clrs: cannot open a browser; open {url} yourself");
        }
    };
    match serve(config, started) {
        Err(error @ ServeError::PortTaken { .. }) => bail!("{error}; `--port 0` takes a free one"),
        result => Ok(result?),
    }
}

/// Opens an address with the program that the desktop has for it.
fn open(url: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/c", "start"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
