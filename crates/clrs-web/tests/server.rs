//! The server, asked by browsers and by those who mean harm.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clrs::{AnyAlgorithm, Registry, SamplerOptions, Trace};
use clrs_web::server::{Config, ServeError, Server};
use tokio::sync::oneshot;

/// A server on a thread of its own, stopped when it is dropped.
struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(config: Config) -> Running {
        let (stop, stopped) = oneshot::channel::<()>();
        let (send, receive) = mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let server = Server::bind(config).await.expect("a free port");
                let address = server.url()["http://".len()..].trim_end_matches('/').parse().expect("an address");
                send.send(address).expect("the test waits");
                server.run(async { stopped.await.unwrap_or_default() }).await;
            });
        });
        Running { address: receive.recv().expect("an address"), stop: Some(stop), thread: Some(thread) }
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address))
    }

    fn post(&self, body: &str) -> Answer {
        let (address, length) = (self.address, body.len());
        self.ask(format!(
            "POST /api/trace HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// Sends bytes and reads until the server closes the connection.
    fn ask(&self, request: impl AsRef<[u8]>) -> Answer {
        let mut stream = self.connect();
        // A server that refuses a request may close the connection before it has read all of it.
        let _ = stream.write_all(request.as_ref());
        Answer::read(stream)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout");
        stream
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        self.thread.take().map(JoinHandle::join);
    }
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn read(mut stream: TcpStream) -> Answer {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head, body: bytes.split_off(end) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

fn start() -> Running {
    Running::start(Config::default())
}

#[test]
fn the_page_allows_its_own_scripts_and_nothing_else() {
    let server = start();
    let page = server.get("/");
    assert_eq!(page.status, 200);
    assert!(page.text().starts_with("<!doctype html>"));
    let policy = page.head.lines().find(|line| line.starts_with("content-security-policy:")).expect("a policy").to_owned();
    assert!(
        policy.contains("default-src 'none'")
            && policy.contains("script-src 'sha256-")
            && policy.contains("frame-ancestors 'none'")
    );
    assert!(!policy.contains("unsafe") && !policy.contains('*'));
    let scripts = policy.split("script-src").nth(1).and_then(|rest| rest.split(';').next()).expect("a policy of scripts");
    assert_eq!(scripts.matches("'sha256-").count(), scripts.split_whitespace().count(), "only hashes: {scripts}");
    assert_eq!(scripts.split_whitespace().count(), 2, "the script at the top and that at the end");
    for header in ["x-content-type-options: nosniff", "x-frame-options: deny", "cross-origin-resource-policy: same-origin"] {
        assert!(page.head.contains(header), "{header}");
    }
    assert!(!page.head.contains("access-control-allow-origin"));
}

#[test]
fn traces_are_those_of_the_library() {
    let server = start();
    for algorithm in Registry::builtin().iter() {
        let answer = server.get(&format!("/api/trace?algorithm={}&size=5&seed=3", algorithm.name()));
        let trace = Trace::sample(algorithm, 5, 3, &SamplerOptions::default()).expect("a trace");
        assert_eq!(serde_json::from_slice::<Trace>(&answer.body).expect("a trace"), trace, "{}", algorithm.name());
        let body = serde_json::json!({ "algorithm": algorithm.name(), "problem": trace.problem }).to_string();
        assert_eq!(serde_json::from_slice::<Trace>(&server.post(&body).body).expect("a trace"), trace, "{}", algorithm.name());
    }
    let with_option = server.get("/api/trace?algorithm=bfs&size=6&set=graph%3Dtree");
    assert_eq!(with_option.json()["probes"][1]["name"], "s");
    assert_eq!(server.get("/api/info").json()["algorithms"].as_array().map(Vec::len), Some(Registry::builtin().iter().len()));
    assert_eq!(server.get("/api/algorithms/bfs").json()["title"], "Breadth-first search");
}

#[test]
fn large_answers_are_compressed_for_those_who_can_read_that() {
    let server = start();
    let plain = server.get("/api/trace?algorithm=bfs&size=16");
    let request = format!(
        "GET /api/trace?algorithm=bfs&size=16 HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: br, gzip\r\nConnection: close\r\n\r\n",
        server.address
    );
    let compressed = server.ask(request);
    assert!(compressed.head.contains("content-encoding: gzip") && !plain.head.contains("content-encoding"));
    assert!(compressed.body.len() * 4 < plain.body.len(), "{} of {} bytes", compressed.body.len(), plain.body.len());
    let page = format!("GET / HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n", server.address);
    assert!(server.ask(page).body.len() < 70_000, "the page is small");
}

#[test]
fn other_hosts_and_other_pages_get_nothing() {
    let server = start();
    let with = |headers: &str| server.ask(format!("GET /api/info HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
    let own = format!("Host: {}\r\n", server.address);
    assert_eq!(with(&own).status, 200);
    assert_eq!(with(&format!("{own}Origin: http://{}\r\n", server.address)).status, 200);
    for headers in [
        // DNS rebinding: a name of someone else that points to this machine.
        format!("Host: evil.example:{}\r\n", server.address.port()),
        "Host: evil.example\r\n".into(),
        "Host: 127.0.0.1\r\n".into(),
        format!("Host: {}@evil.example\r\n", server.address),
        format!("{own}{own}"),
        String::new(),
        // Scripts of other pages.
        format!("{own}Origin: http://evil.example\r\n"),
        format!("{own}Origin: null\r\n"),
        format!("{own}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n"),
    ] {
        let answer = with(&headers);
        assert!([400, 403].contains(&answer.status), "{headers:?}: {}", answer.status);
        assert!(!answer.text().contains("algorithms"), "{headers:?}");
    }
}

#[test]
fn no_part_of_a_request_is_a_path() {
    let server = start();
    let paths = [
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/api/algorithms/..%2f..%2f..%2fetc%2fpasswd",
        "/api/algorithms/%2fetc%2fpasswd",
        "/api/trace?algorithm=../../Cargo.toml",
        "/api/trace?algorithm=bfs%00.rs",
        "//etc/passwd",
        "/api/algorithms/bfs/../../../Cargo.toml",
        "/bundle/app.js",
    ];
    for path in paths {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.len() < 300 && !answer.text().contains("root:"), "{path}: {}", answer.text());
    }
    assert_eq!(
        server.ask(format!("DELETE /api/trace HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address)).status,
        404
    );
}

#[test]
fn what_is_too_large_is_refused_before_any_work() {
    let server = start();
    let too_large = [
        server.get("/api/trace?algorithm=bubble_sort&size=100000"),
        server.get("/api/trace?algorithm=mst_kruskal&size=18446744073709551615"),
        server.get("/api/trace?algorithm=graham_scan&size=9&set=collinearity_resampling_attempts%3D999999999999"),
        server.post(r#"{"algorithm": "bipartite_matching", "problem": {"left": 1000000, "right": 1000000, "edges": []}}"#),
        server.post(&format!(r#"{{"algorithm": "bubble_sort", "problem": {{"key": {:?}}}}}"#, vec![1; 5000])),
        server.post(&format!(r#"{{"algorithm": "bfs", "problem": "{}"}}"#, "x".repeat(3 << 20))),
    ];
    for (index, answer) in too_large.iter().enumerate() {
        assert_eq!(answer.status, 413, "{index}: {}", answer.text());
    }
    let head = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n", server.address, "x".repeat(1 << 20));
    assert!([431, 400, 0].contains(&server.ask(head).status));
    assert_eq!(server.get("/api/info").status, 200);
}

#[test]
fn malformed_requests_are_errors_of_one_line() {
    let server = start();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/json_problem");
    let mut bodies: Vec<String> =
        ["", "{", "[]", "null", "1e999", r#"{"algorithm": 1}"#, "\u{0}", "{\"a\":".repeat(9999).as_str()]
            .map(str::to_owned)
            .into();
    let files = std::fs::read_dir(corpus).into_iter().flatten().flatten();
    for text in files.filter_map(|file| std::fs::read(file.path()).ok()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    {
        for algorithm in Registry::builtin().iter().map(AnyAlgorithm::name).chain(["", "nothing"]) {
            bodies.push(format!(r#"{{"algorithm": "{algorithm}", "problem": {text}}}"#));
        }
        bodies.extend((0..text.len()).step_by(7).filter(|&end| text.is_char_boundary(end)).map(|end| text[..end].to_owned()));
    }
    for body in bodies {
        let answer = server.post(&body);
        assert!([200, 400, 404, 413].contains(&answer.status), "{}: {body:.80}", answer.status);
        if answer.status != 200 {
            let error = answer.json()["error"].as_str().expect("a message").to_owned();
            assert!(!error.is_empty() && error.len() < 2000 && !error.contains('\n'), "{error}");
        }
    }
    for query in [
        "size=x",
        "size=-1",
        "seed=4294967296",
        "set=p",
        "set=p%3D2&set=p%3D3",
        "set=nothing%3D1",
        "color=red",
        "size=0",
        "%ff=%fe",
    ] {
        assert_eq!(server.get(&format!("/api/trace?algorithm=bfs&{query}")).status, 400, "{query}");
    }
    for junk in ["\r\n\r\n", "GET", "GET / HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET / HTTP/1.1\r\nHost\r\n\r\n"] {
        server.connect().write_all(junk.as_bytes()).expect("sent");
    }
    assert_eq!(server.get("/api/info").status, 200);
}

#[test]
fn slow_clients_are_disconnected_and_disturb_nobody() {
    let mut config = Config::default();
    config.patience = Duration::from_secs(3);
    let server = Running::start(config);
    let begin = |text: &str| {
        let mut stream = server.connect();
        stream.write_all(text.as_bytes()).expect("sent");
        stream
    };
    let host = format!("Host: {}\r\n", server.address);
    let slow: Vec<TcpStream> = (0..150).map(|_| begin("GET / HTTP/1.1\r\nHo")).collect();
    assert_eq!(server.get("/").status, 200, "others are served meanwhile");
    for mut stream in slow {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(!rest.windows(7).any(|window| window == b" 200 OK"), "half a request has no answer");
    }
    // Idle after a complete request.
    let mut idle = begin(&format!("GET /api/algorithms/bfs HTTP/1.1\r\n{host}\r\n"));
    let mut answer = Vec::new();
    idle.read_to_end(&mut answer).expect("the server closes the connection");
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    // Never reads a large answer: the server gives up, and its memory is free again.
    let greedy: Vec<TcpStream> =
        (0..8).map(|_| begin(&format!("GET /api/trace?algorithm=floyd_warshall&size=64 HTTP/1.1\r\n{host}\r\n"))).collect();
    assert_eq!(server.get("/api/info").status, 200);
    drop(greedy);
}

#[test]
fn many_requests_at_once_are_answered() {
    let server = start();
    let failed = thread::scope(|scope| {
        let ask = |index: usize| {
            let algorithms = ["bfs", "dijkstra", "quicksort", "lcs_length", "graham_scan"];
            server.get(&format!("/api/trace?algorithm={}&size=16&seed={index}", algorithms[index % 5])).status != 200
        };
        let threads: Vec<_> = (0..200).map(|index| scope.spawn(move || ask(index))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).filter(|failed| *failed).count()
    });
    assert_eq!(failed, 0);
}

#[test]
fn a_taken_port_is_an_error_that_names_it() {
    let server = start();
    let mut config = Config::default();
    config.port = server.address.port();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let error = runtime.block_on(Server::bind(config)).err().expect("the port is taken");
    assert!(matches!(error, ServeError::PortTaken { .. }));
    assert!(error.to_string().contains(&server.address.port().to_string()), "{error}");
}

#[test]
fn answers_that_are_being_sent_are_completed_before_the_server_stops() {
    let mut server = start();
    let mut stream = server.connect();
    let request = format!("GET /api/trace?algorithm=matrix_chain_order&size=64 HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    stream.write_all(request.as_bytes()).expect("sent");
    let mut first = [0; 64];
    stream.read_exact(&mut first).expect("the answer begins");
    server.stop.take().expect("a server that runs").send(()).expect("the server listens for it");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("the answer ends");
    let text = String::from_utf8_lossy(&rest).into_owned();
    assert!(text.trim_end().ends_with('}'), "the end of the document: {:.60}", &text[text.len().saturating_sub(60)..]);
    server.thread.take().expect("a thread").join().expect("the server ends");
}
