//! The HTTP server of the explorer.
//!
//! It serves one page and an API for it, to the browser of the person who started it. `guard` refuses requests that another web
//! page sent through that browser; `work` bounds what a request can cost; `connection` bounds how long a client can take. No
//! part of a request is a path.

mod api;
mod config;
mod connection;
mod error;
mod guard;
#[cfg(feature = "networks")]
mod networks;
mod respond;
mod work;

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

pub use config::Config;

/// Why the server cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum ServeError {
    #[error("port {port} of {address} is taken by another program")]
    PortTaken { address: IpAddr, port: u16 },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("cannot start the server: {0}")]
    Runtime(#[source] io::Error),
}

/// A server that listens, and answers once it [runs](Server::run).
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: axum::Router,
    patience: Duration,
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// If the port is taken or not allowed.
    pub async fn bind(config: Config) -> Result<Server, ServeError> {
        let wanted = SocketAddr::new(config.address, config.port);
        let fail = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => ServeError::PortTaken { address: config.address, port: config.port },
            _ => ServeError::Listen { address: wanted, source },
        };
        let listener = TcpListener::bind(wanted).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let (hosts, patience) = (guard::Hosts::new(address, config.hosts.clone()), config.patience);
        let routes = api::routes();
        #[cfg(feature = "networks")]
        let routes = networks::add_routes(routes);
        let router = guard::protect(api::router(routes, Arc::new(api::Explorer::new(config))), hosts);
        Ok(Server { listener, address, router, patience })
    }

    /// The address to open in a browser.
    pub fn url(&self) -> String {
        // Browsers cannot open the address that stands for all of them.
        let ip = if self.address.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { self.address.ip() };
        format!("http://{}/", SocketAddr::new(ip, self.address.port()))
    }

    /// Answers requests until `shutdown` completes; then completes the answers that are being sent.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        connection::accept(self.listener, self.router, self.patience, shutdown).await;
    }
}

/// Starts a server, reports its address, and serves until the process is asked to stop.
///
/// # Errors
/// If it cannot start.
pub fn serve(config: Config, started: impl FnOnce(&str)) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServeError::Runtime)?;
    runtime.block_on(async {
        let server = Server::bind(config).await?;
        started(&server.url());
        server.run(stop_signal()).await;
        Ok(())
    })
}

/// Completes on Ctrl-C, or when another process asks this one to stop.
async fn stop_signal() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
