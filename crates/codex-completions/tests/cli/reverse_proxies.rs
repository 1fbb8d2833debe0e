//! nginx and Caddy with the configurations of `packaging` in front of a real server.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use testkit::http::Connection;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use crate::server::{Server, free_port};
use crate::user::User;

const KEY: &str = "the-key-of-the-owner";
/// The name in both configurations.
const HOST: &str = "proxy.example.org";
/// Generous: only a hang reaches it.
const PATIENCE: Duration = Duration::from_mins(1);

/// Every spelling that the server takes for the path of the metrics.
const METRICS: [&str; 6] =
    ["/metrics", "/metrics/", "/v1/metrics", "/v1/metrics/", "/metrics?name=x", "/v1/metrics/?"];

/// Those that a proxy might take for it. The first is one to our server, and to no proxy.
const SIMILAR: [&str; 19] = [
    "/metrics#x",
    "//metrics",
    "/v1//metrics",
    "/metrics//",
    "/./metrics",
    "/v1/../metrics",
    "/v1/models/../metrics",
    "/v1/models/..%2fmetrics",
    "/Metrics",
    "/METRICS/",
    "/V1/metrics",
    "/%6detrics",
    "/%6d%65%74%72%69%63%73/",
    "/v1%2fmetrics",
    "/v1/metrics%2f",
    "/%2e/metrics",
    "/metrics;x",
    "/metrics%20",
    "/metrics%0a",
];

/// A proxy that runs; a test that fails kills it.
struct ReverseProxy {
    address: String,
    process: Child,
    /// A closed pipe would end Caddy.
    _log: Lines<BufReader<ChildStderr>>,
    _folder: TempDir,
}

// === impl ReverseProxy ===

impl ReverseProxy {
    /// nginx with these servers, in one process, so that none is left when it is killed.
    async fn nginx(program: &str, port: u16, servers: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {}/{name};\n", folder.path().display()))
            .concat();
        let configuration = format!(
            "daemon off;\nmaster_process off;\npid {}/pid;\nerror_log stderr notice;\nevents {{}}\n\
             http {{\naccess_log off;\n{temporary}{servers}\n}}\n",
            folder.path().display(),
        );
        let path = folder.path().join("nginx.conf");
        std::fs::write(&path, configuration).unwrap();
        let mut command = Command::new(program);
        command.args(["-e", "stderr", "-c"]).arg(path);
        Self::start(command, folder, port, "getrlimit(").await
    }

    async fn caddy(program: &str, port: u16, site: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Caddyfile");
        // Its interface for other programs would need a port of its own.
        std::fs::write(&path, format!("{{\n\tadmin off\n}}\n{site}")).unwrap();
        let mut command = Command::new(program);
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(path);
        Self::start(command, folder, port, "serving initial configuration").await
    }

    /// Runs it until it logs that it listens.
    async fn start(mut command: Command, folder: TempDir, port: u16, ready: &str) -> Self {
        command.env_clear().env("HOME", folder.path()).current_dir(folder.path());
        command.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut seen = String::new();
        while !seen.contains(ready) {
            let line = timeout(PATIENCE, log.next_line()).await.expect("a line of the log");
            let line = line.unwrap().unwrap_or_else(|| panic!("the proxy ended: {seen}"));
            seen = seen + &line + "\n";
        }
        let address = format!("127.0.0.1:{port}");
        Self { address, process, _log: log, _folder: folder }
    }

    async fn stop(mut self) {
        self.process.kill().await.unwrap();
    }
}

/// A file of `packaging`, with every pair replaced.
fn packaged(file: &str, replaced: &[(&str, &str)]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(file);
    let mut text = std::fs::read_to_string(path).unwrap();
    for (old, new) in replaced {
        assert!(text.contains(old), "{old} in {file}");
        text = text.replace(old, new);
    }
    text
}

/// nginx without TLS on that port, in front of `server`. What it blocks is `blocked`.
fn nginx_servers(server: &str, port: u16, blocked: &str) -> String {
    let certificate = format!("/etc/letsencrypt/live/{HOST}");
    packaged(
        "nginx/codex-completions.conf",
        &[
            ("127.0.0.1:11435", server),
            ("listen 443 ssl http2;", &format!("listen 127.0.0.1:{port};")),
            ("listen [::]:443 ssl http2;", ""),
            (&format!("ssl_certificate     {certificate}/fullchain.pem;"), ""),
            (&format!("ssl_certificate_key {certificate}/privkey.pem;"), ""),
            ("metrics(/|$)", &format!("{blocked}(/|$)")),
        ],
    )
}

/// The same for Caddy.
fn caddy_site(server: &str, port: u16, blocked: &str) -> String {
    packaged(
        "caddy/Caddyfile",
        &[
            ("127.0.0.1:11435", server),
            (&format!("\n{HOST} {{\n"), &format!("\nhttp://{HOST}:{port} {{\n\tbind 127.0.0.1\n")),
            ("/metrics", &format!("/{blocked}")),
        ],
    )
}

/// Sends a request, and returns the status, what came of the body at first, and all of it.
async fn send(address: &str, request: &str, lines: &[&str], body: &str) -> (u16, String, String) {
    let (lines, length) = (lines.join("\r\n"), body.len());
    let request = format!(
        "{request} HTTP/1.1\r\n{lines}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let mut connection = Connection::open_with(address, request.as_bytes()).await.unwrap();
    let exchange = async {
        let status = connection.head().await.unwrap().status;
        let (mut first, mut all) = (String::new(), String::new());
        while let Some(piece) = connection.piece(usize::MAX).await.unwrap() {
            all += &String::from_utf8_lossy(&piece);
            if first.is_empty() && all.contains("data: ") {
                first.clone_from(&all);
            }
        }
        (status, first, all)
    };
    timeout(PATIENCE, exchange).await.expect("an answer")
}

/// The status of a GET, and whether its answer has metrics.
async fn get(address: &str, path: &str, lines: &[&str]) -> (u16, bool) {
    let (status, _, answer) = send(address, &format!("GET {path}"), lines, "").await;
    (status, answer.contains("# TYPE codex_completions_"))
}

/// A chat is streamed through it, frame by frame.
async fn assert_streams(proxy: &ReverseProxy, authorization: &str) {
    let host = format!("host: {HOST}");
    let lines = [host.as_str(), authorization, "content-type: application/json"];
    let body = r#"{"model": "demo", "stream": true, "messages": [{"role": "user", "content": "[[slow:800]]"}]}"#;
    let (status, first, all) =
        send(&proxy.address, "POST /v1/chat/completions", &lines, body).await;
    assert!(status == 200 && all.contains("data: [DONE]"), "{status}: {all}");
    assert!(!first.is_empty() && !first.contains("[DONE]"), "all came at once: {first}");
}

/// nginx and Caddy, unpacked if need be.
fn programs() -> [String; 2] {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/install-proxies");
    let output = std::process::Command::new(script).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout).unwrap();
    let paths: Vec<_> = output.lines().map(str::to_owned).collect();
    paths.try_into().expect("two paths")
}

#[tokio::test]
async fn row_25_packaged_proxies_pass_no_spelling_of_the_metrics_on() {
    let [nginx, caddy] = programs();
    let user = User::new().await;
    let settings = [
        ("PROXY_METRICS_ALLOW_LOOPBACK", "true"),
        ("PROXY_ALLOWED_HOSTS", HOST),
        ("PROXY_API_KEY", KEY),
    ];
    let server = Server::start(&user, &settings);
    let server = server.address.as_str();
    let host = format!("host: {HOST}");
    let loopback = format!("host: {server}");
    let authorization = format!("authorization: Bearer {KEY}");
    for path in METRICS {
        assert_eq!(get(server, path, &[&loopback]).await, (200, true), "{path}");
    }
    for blocked in ["metrics", "something-else"] {
        let port = free_port();
        let nginx = ReverseProxy::nginx(&nginx, port, &nginx_servers(server, port, blocked)).await;
        let port = free_port();
        let caddy = ReverseProxy::caddy(&caddy, port, &caddy_site(server, port, blocked)).await;
        for (name, proxy) in [("nginx", &nginx), ("Caddy", &caddy)] {
            assert_streams(proxy, &authorization).await;
            for path in METRICS {
                let with_key = get(&proxy.address, path, &[&host, &authorization]).await;
                let without = get(&proxy.address, path, &[&host]).await;
                // Without its rule a proxy passes the path on, and only the key opens it.
                let expected = match blocked {
                    "metrics" => [(404, false), (404, false)],
                    _ => [(200, true), (401, false)],
                };
                assert_eq!([with_key, without], expected, "{name}, {blocked}: {path}");
            }
        }
        if blocked == "metrics" {
            for (proxy, path) in [&nginx, &caddy].into_iter().flat_map(|p| SIMILAR.map(|s| (p, s)))
            {
                let absolute = format!("http://{HOST}{path}");
                for path in [path, &absolute] {
                    let (status, has_metrics) =
                        get(&proxy.address, path, &[&host, &authorization]).await;
                    assert!([400, 404].contains(&status) && !has_metrics, "{path}: {status}");
                }
            }
        }
        nginx.stop().await;
        caddy.stop().await;
    }
}

/// What docs/operations.md warns of: no header shows that such a request was passed on.
#[tokio::test]
async fn row_25_a_bare_proxy_pass_looks_like_this_machine() {
    let [nginx, _] = programs();
    let user = User::new().await;
    let server = Server::start(&user, &[("PROXY_METRICS_ALLOW_LOOPBACK", "true")]);
    let port = free_port();
    let bare = format!(
        "server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://{}; }} }}",
        server.address
    );
    let nginx = ReverseProxy::nginx(&nginx, port, &bare).await;
    let host = format!("host: {HOST}");
    assert_eq!(get(&nginx.address, "/v1/metrics", &[&host]).await, (200, true));
    nginx.stop().await;
}
