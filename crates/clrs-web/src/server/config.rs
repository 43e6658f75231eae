//! What to serve, and where.

use std::net::{IpAddr, Ipv4Addr};

use clrs::Registry;

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
    /// Algorithms.
    pub registry: Registry,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            hosts: Vec::new(),
            max_size: 128,
            registry: Registry::builtin(),
        }
    }
}
