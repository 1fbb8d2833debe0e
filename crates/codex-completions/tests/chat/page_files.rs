//! The page's own files: public, the same for everybody, and never sent twice.

use std::path::Path;

use http_body_util::Full;
use hyper::{Method, Request};

use crate::http::Answer;
use crate::proxy::Proxy;

/// Nothing comes from elsewhere, nothing goes elsewhere.
const POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Paths of the page's files, each with what is in the file; the page itself is there under two names.
fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/page");
    let mut files =
        vec![("/".to_owned(), std::fs::read_to_string(folder.join("index.html")).unwrap())];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        files.push((format!("/page/{name}"), std::fs::read_to_string(&path).unwrap()));
    }
    files
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    }
}

async fn ask(proxy: &Proxy, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    proxy.send_without_key(request.body(Full::default()).unwrap()).await.whole().await
}

#[tokio::test]
async fn row_17_the_page_is_public_holds_nothing_and_may_load_nothing_of_others() {
    let proxy = Proxy::start(&[]).await;
    let files = files();
    assert!(files.len() > 3, "{files:?}");
    for (path, content) in &files {
        let file = ask(&proxy, Method::GET, path, &[]).await;
        // Nothing is put into it.
        assert_eq!((file.status, &file.body), (200, content), "{path}");
        assert_eq!(file.header("content-type"), Some(content_type(path)), "{path}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(file.header("content-security-policy"), Some(POLICY), "{path}");

        let head = ask(&proxy, Method::HEAD, path, &[]).await;
        assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
        let tag = file.header("etag").unwrap();
        assert_eq!(head.header("etag"), Some(tag), "{path}");
        let length = content.len().to_string();
        assert_eq!(head.header("content-length"), Some(length.as_str()), "{path}");

        let again = ask(&proxy, Method::GET, path, &[("if-none-match", tag)]).await;
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
        assert_eq!(again.header("etag"), Some(tag), "{path}");
    }
}

#[tokio::test]
async fn row_17_the_page_is_served_to_no_other_page() {
    let proxy = Proxy::start(&[]).await;
    for path in ["/", "/page/app.js"] {
        let answer = ask(&proxy, Method::GET, path, &[("origin", "https://evil.example")]).await;
        assert_eq!(answer.status, 403, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
        let post = ask(&proxy, Method::POST, path, &[]).await;
        assert_eq!(post.status, 405, "{path}");
    }
    for path in
        ["/page", "/page/", "/page/none.js", "/page/../Cargo.toml", "/page/%2e%2e/Cargo.toml"]
    {
        let answer = ask(&proxy, Method::GET, path, &[]).await;
        assert!([401, 404].contains(&answer.status), "{path}: {answer:?}");
    }
}
