//! Who may ask: browsers that address this server by a name of its own, from its own page.
//!
//! A web page of someone else can make a browser send requests to `127.0.0.1`. It cannot read the answers unless its host name
//! is made to point there (DNS rebinding); such requests have that name in `Host`. Requests across origins have another
//! `Origin`, or say so in `Sec-Fetch-Site`.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use super::error::ApiError;
use crate::page;

/// How long a request may take from its head to the head of its answer, its body included.
const MAX_TIME: Duration = Duration::from_secs(100);

/// Names of this server.
pub(super) struct Hosts {
    port: u16,
    names: Vec<String>,
    /// Whether it listens on all addresses of the machine. Their names are unknown, but DNS rebinding needs a name.
    any_address: bool,
    address: IpAddr,
}

impl Hosts {
    pub(super) fn new(address: SocketAddr, mut names: Vec<String>) -> Hosts {
        for name in &mut names {
            name.make_ascii_lowercase();
        }
        names.push("localhost".into());
        Hosts { port: address.port(), names, any_address: address.ip().is_unspecified(), address: address.ip() }
    }

    /// Whether a `Host` header names this server.
    fn admits(&self, host: &str) -> bool {
        let Some((name, port)) = split_host(host) else { return false };
        if port != self.port {
            return false;
        }
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match address {
            Ok(address) => address.is_loopback() || address == self.address || self.any_address,
            Err(_) => self.names.iter().any(|own| own.eq_ignore_ascii_case(name)),
        }
    }
}

/// Name and port of a `Host` header.
fn split_host(host: &str) -> Option<(&str, u16)> {
    match host.rsplit_once(':') {
        // A colon inside of brackets belongs to the address.
        Some((name, port)) if !port.ends_with(']') => Some((name, port.parse().ok()?)),
        _ => Some((host, 80)),
    }
}

/// Checks every request, and completes every response with headers that keep browsers strict.
pub(super) fn protect(router: Router, hosts: Hosts) -> Router {
    router.layer(from_fn_with_state(Arc::new(hosts), check))
}

async fn check(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    let mut response = match admit(&hosts, request.method(), request.headers()) {
        Ok(()) => match tokio::time::timeout(MAX_TIME, next.run(request)).await {
            Ok(response) => response,
            Err(_) => ApiError::TimedOut.into_response(),
        },
        Err(refusal) => refusal.into_response(),
    };
    let policy = format!("{}; frame-ancestors 'none'", *page::POLICY);
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    for name in ["cross-origin-opener-policy", "cross-origin-resource-policy"] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static("same-origin"));
    }
    response
}

fn admit(hosts: &Hosts, method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
    let mut all = headers.get_all(HOST).iter();
    let host = all.next().and_then(|host| host.to_str().ok()).filter(|host| hosts.admits(host));
    let (Some(host), None) = (host, all.next()) else {
        return Err(ApiError::Forbidden("the request names another host"));
    };
    if let Some(origin) = headers.get(ORIGIN)
        && origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://")) != Some(host)
    {
        return Err(ApiError::Forbidden("the request comes from another page"));
    }
    // Links from other pages to this one are welcome; they are navigations.
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    let mode = headers.get("sec-fetch-mode").and_then(|mode| mode.to_str().ok());
    let is_navigation = mode == Some("navigate") && method == Method::GET;
    if matches!(site, Some("cross-site" | "same-site")) && !is_navigation {
        return Err(ApiError::Forbidden("the request comes from another page"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(address: &str) -> Hosts {
        Hosts::new(address.parse().expect("an address"), vec!["lab.example".into()])
    }

    #[test]
    fn only_names_of_this_server_are_admitted() {
        let local = hosts("127.0.0.1:8030");
        for host in ["127.0.0.1:8030", "localhost:8030", "LOCALHOST:8030", "[::1]:8030", "lab.example:8030"] {
            assert!(local.admits(host), "{host}");
        }
        for host in
            ["evil.example:8030", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8030", "localhost:8030:1", "", ":8030"]
        {
            assert!(!local.admits(host), "{host}");
        }
        assert!(!local.admits("192.168.1.5:8030"));
        let open = hosts("0.0.0.0:8030");
        assert!(open.admits("192.168.1.5:8030") && !open.admits("evil.example:8030"));
        assert!(hosts("127.0.0.1:80").admits("localhost"), "80 is implied");
    }

    #[test]
    fn requests_of_other_pages_are_refused() {
        let admitted = |headers: &[(&'static str, &'static str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, HeaderValue::from_static(value));
            }
            admit(&hosts("127.0.0.1:8030"), &Method::POST, &map).is_ok()
        };
        let own = ("host", "localhost:8030");
        assert!(admitted(&[own]));
        assert!(admitted(&[own, ("origin", "http://localhost:8030"), ("sec-fetch-site", "same-origin")]));
        assert!(!admitted(&[]));
        assert!(!admitted(&[own, own]));
        for origin in ["http://evil.example", "null", "https://localhost:8030", "http://localhost:8031", "http://127.0.0.1:8030"]
        {
            assert!(!admitted(&[own, ("origin", origin)]), "{origin}");
        }
        assert!(!admitted(&[own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")]));
        assert!(!admitted(&[own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]), "a form");
    }
}
