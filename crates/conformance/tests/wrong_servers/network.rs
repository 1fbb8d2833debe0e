//! What happens before there is an answer, in the right words.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::hostile::{Parrot, Saying};
use super::*;

fn not_a_server(url: &str) -> String {
    Server::parse(url, None).map(|_| ()).unwrap_err().to_string()
}

#[tokio::test]
async fn nobody_there_is_an_error() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let told = unable(&plain_plan(&format!("http://{free}/v1"))).await;
    assert!(told.contains("nobody listens"), "{told}");
    let told = unable(&plain_plan("http://no-such-host.invalid/v1")).await;
    assert!(told.contains("the name no-such-host.invalid is not known"), "{told}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plan = plain_plan(&format!("http://{}/v1", listener.local_addr().unwrap()));
    let server = plan.server.clone().answering_within(Duration::from_secs(1));
    let told = unable(&Plan { server, ..plan }).await;
    assert!(told.ends_with("no answer within 1 s"), "{told}");
}

#[tokio::test]
async fn an_untrusted_certificate_is_told_as_such() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (client, _) = listener.accept().await.unwrap();
        assert!(acceptor.accept(client).await.is_err(), "the kit leaves");
    });
    let told = unable(&plain_plan(&format!("https://localhost:{port}/v1"))).await;
    assert!(told.contains("its certificate is not trusted"), "{told}");
    tasks.join_all().await;
}

#[tokio::test]
async fn a_server_without_encryption_is_told_as_such() {
    let body = String::new();
    let saying = Saying { status: 200, content_type: "text/plain", body, again_after: None };
    let parrot = Parrot::start(saying).await;
    let told = unable(&plain_plan(&parrot.base_url.replace("http:", "https:"))).await;
    assert!(told.contains("is it http and not https?"), "{told}");
}

#[test]
fn a_url_that_is_none_is_refused_without_saying_back_a_password() {
    for url in ["127.0.0.1", "ftp://a/v1", "http://a:99999/v1", "http://a:x/v1", "http://a/v1?b=c"]
    {
        assert!(not_a_server(url).contains("is not a URL such as"), "{url}");
    }
    for url in ["http://me:secret@a/v1", "me:secret@a/v1", "https://secret@a"] {
        let told = not_a_server(url);
        assert!(told.contains("user") && !told.contains("secret"), "{told}");
    }
    for line in ["secret", "x y: secret", ": secret", "x-name: sec\u{7}ret"] {
        let server = Server::parse("http://a/v1", None).unwrap();
        let told = server.with_header(line).map(|_| ()).unwrap_err().to_string();
        assert!(!told.contains("sec"), "{told}");
    }
}

#[tokio::test]
async fn a_header_replaces_what_would_be_sent() {
    let body = "{\"data\": [{\"id\": \"m\"}]}".to_owned();
    let saying = Saying { status: 200, content_type: "application/json", body, again_after: None };
    let parrot = Parrot::start(saying).await;
    let server = Server::parse(&parrot.base_url, Some("sk-key".to_owned())).unwrap();
    let server = server.with_header("Authorization: Basic abc").unwrap();
    let server = server.with_header("x-a: 1").unwrap().with_header("x-a: 2").unwrap();
    run(&Plan { server, ..parrot.plan("models-list") }).await.unwrap();
    for request in parrot.requests.lock().unwrap().iter() {
        assert_eq!(request.matches("authorization: ").count(), 1, "{request}");
        assert!(request.contains("authorization: Basic abc\r\n"), "{request}");
        assert!(request.contains("x-a: 1\r\nx-a: 2\r\n"), "{request}");
    }
}
