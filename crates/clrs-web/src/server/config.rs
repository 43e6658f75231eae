//! What to serve, and where.

use std::net::{IpAddr, Ipv4Addr};
#[cfg(feature = "networks")]
use std::sync::Arc;
use std::time::Duration;

use clrs::Registry;

#[cfg(feature = "networks")]
use crate::networks::Runs;

/// What to serve, and where.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// Address to listen on.
    pub address: IpAddr,
    /// Port to listen on; 0 for any free one.
    pub port: u16,
    /// Further names under which browsers may address the server. `localhost` and addresses need not be listed.
    pub hosts: Vec<String>,
    /// Largest size of a problem.
    pub max_size: usize,
    /// How long a client may be silent: while it sends a request, between requests, and while an answer waits for it.
    pub patience: Duration,
    /// Algorithms.
    pub registry: Registry,
    /// Runs whose networks are shown.
    #[cfg(feature = "networks")]
    pub runs: Arc<Runs>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            hosts: Vec::new(),
            max_size: 128,
            patience: Duration::from_secs(30),
            registry: Registry::builtin(),
            #[cfg(feature = "networks")]
            runs: Arc::new(Runs::none()),
        }
    }
}
