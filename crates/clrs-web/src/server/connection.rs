//! Connections: how many, how slow, and how they end.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Sleep, sleep, timeout};

/// Open connections; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 2048;
/// How long answers that are being sent may take after the server was asked to stop.
const MAX_GOODBYE: Duration = Duration::from_secs(5);
/// Largest head of a request.
const MAX_HEAD_BYTES: usize = 32 << 10;

/// Accepts connections until `shutdown` completes. Clients that are silent for longer than `patience` are disconnected.
pub(super) async fn accept(listener: TcpListener, router: Router, patience: Duration, shutdown: impl Future<Output = ()>) {
    let open = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let next = async { (Arc::clone(&open).acquire_owned().await, listener.accept().await) };
        let (permit, stream) = tokio::select! {
            next = next => next,
            () = &mut shutdown => break,
        };
        let Ok((stream, _)) = stream else {
            // Too many open files, or a client that left: neither is a reason to stop.
            sleep(Duration::from_millis(10)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(MAX_HEAD_BYTES);
        let io = TokioIo::new(Unstalled { stream, patience, timer: None });
        let connection = graceful.watch(builder.serve_connection(io, TowerToHyperService::new(router.clone())));
        tokio::spawn(async move {
            let _permit = permit;
            // A client that breaks the protocol or leaves concerns nobody else.
            let _ = connection.await;
        });
    }
    drop(listener);
    let _ = timeout(MAX_GOODBYE, graceful.shutdown()).await;
}

/// A stream whose writes fail if the other side reads nothing for too long.
struct Unstalled {
    stream: TcpStream,
    patience: Duration,
    /// Runs while a write waits.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Unstalled {
    fn bounded<T>(&mut self, context: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.timer = None;
            return result;
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Unstalled {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Unstalled {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(context, result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
