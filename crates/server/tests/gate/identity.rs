//! The proof that a server is the one of its owner's data folder.

use serde_json::Value;
use server::{IDENTITY_PATH, Nonce, RunSecret};

use crate::client::Server;

#[tokio::test]
async fn row_19_a_proof_needs_no_key_and_is_for_the_address_that_was_dialled() {
    let secret = RunSecret::new([7; 32]);
    let server = Server::start_with(|app| app.run_secret = secret.clone()).await;
    let nonce = Nonce::random().unwrap();
    // Neither a slash at the end nor what a client writes about hosts makes a difference.
    for (path, lines) in [
        (IDENTITY_PATH.to_owned(), vec![]),
        (format!("{IDENTITY_PATH}/"), vec!["x-forwarded-host: 192.0.2.1:80", "forwarded: for=x"]),
    ] {
        let request = format!("GET {path}?{}", nonce.to_query());
        let answer = server.send(&request, &lines, "").await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        let proof = body["proof"].as_str().unwrap();
        assert!(secret.is_proof(proof, &nonce, server.address));
        assert!(!secret.is_proof(proof, &nonce, ([127, 0, 0, 1], 1).into()));
        assert!(!RunSecret::new([8; 32]).is_proof(proof, &nonce, server.address));
    }
    let elsewhere = server
        .send_to_any_host(
            &format!("GET {IDENTITY_PATH}?{}", nonce.to_query()),
            &["host: evil.example"],
            "",
        )
        .await;
    assert_eq!(elsewhere.status, 403);
}

#[tokio::test]
async fn row_19_without_a_whole_nonce_there_is_no_proof() {
    let server = Server::start().await;
    for query in ["", "?", "?nonce=", "?nonce=short", "?nonce=AAAA&nonce=AAAA"] {
        let answer = server.send(&format!("GET {IDENTITY_PATH}{query}"), &[], "").await;
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!((answer.status, body["error"]["param"].as_str()), (400, Some("nonce")));
    }
}
