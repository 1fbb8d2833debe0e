//! A recorder between a client and the server: it passes everything on and keeps what was said.
//!
//! The client gives it orders: `POST /-/record/NAME` and all that follows goes to the transcript of
//! that name, `POST /-/pause` and nothing is kept, `POST /-/restart` and the server is killed and
//! started anew on the same data.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use axum::http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use http_client::Connection;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::server::Server;
use crate::transcript::Exchange;
use crate::user::User;

/// Listens on loopback; gone, and its server with it, when it is dropped.
pub(crate) struct Recorder {
    /// Where the client asks in the place of the server.
    pub(crate) address: String,
    session: Arc<Mutex<Session>>,
    _listening: JoinSet<()>,
}

/// Clients ask one thing at a time, so that all of it can be behind one lock.
struct Session {
    user: Arc<User>,
    settings: &'static [(&'static str, &'static str)],
    server: Option<Server>,
    /// The transcript that is being written.
    writing: Option<String>,
    transcripts: BTreeMap<String, Vec<Exchange>>,
}

// === impl Recorder ===

impl Recorder {
    /// Starts a server with these settings, and a recorder in front of it.
    pub(crate) async fn start(settings: &'static [(&'static str, &'static str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mut session = Session {
            user: Arc::new(User::new().await),
            settings,
            server: None,
            writing: None,
            transcripts: BTreeMap::new(),
        };
        session.restart().await;
        let session = Arc::new(Mutex::new(session));
        let shared = Arc::clone(&session);
        let answer = move |request: Request<Body>| {
            let session = Arc::clone(&shared);
            async move { session.lock().await.answer(request).await }
        };
        let mut listening = JoinSet::new();
        listening.spawn(async move {
            axum::serve(listener, Router::new().fallback(answer)).await.unwrap();
        });
        Self { address, session, _listening: listening }
    }

    /// What was said, by the names of the transcripts.
    pub(crate) async fn transcripts(&self) -> BTreeMap<String, Vec<Exchange>> {
        std::mem::take(&mut self.session.lock().await.transcripts)
    }
}

// === impl Session ===

impl Session {
    async fn answer(&mut self, request: Request<Body>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let Some(order) = path.strip_prefix("/-/") else { return self.pass_on(request).await };
        match order.strip_prefix("record/") {
            Some(name) => self.writing = Some(name.to_owned()),
            None if order == "pause" => self.writing = None,
            None if order == "restart" => self.restart().await,
            None => {
                let refused = Response::builder().status(StatusCode::NOT_FOUND);
                return refused.body(Body::empty()).unwrap();
            }
        }
        Response::new(Body::empty())
    }

    /// The old one gets no time to prepare for its end.
    async fn restart(&mut self) {
        self.server = None;
        let (user, settings) = (Arc::clone(&self.user), self.settings);
        let started = tokio::task::spawn_blocking(move || Server::start(&user, settings));
        self.server = Some(started.await.unwrap());
    }

    /// An answer is passed on when it is whole: a client that leaves in the middle of a stream would
    /// make its end a matter of luck.
    async fn pass_on(&mut self, request: Request<Body>) -> Response<Body> {
        let (mut head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let address = &self.server.as_ref().unwrap().address;
        head.headers.insert(HOST, HeaderValue::from_str(address).unwrap());
        let (method, path) = (head.method.clone(), head.uri.to_string());
        let sent = Request::from_parts(head, Full::new(body.clone()));
        let (mut head, answer) = exchanged(address, sent).await.into_parts();
        let said = Exchange {
            method: method.to_string(),
            path,
            request: String::from_utf8(body.into()).unwrap(),
            status: head.status.as_u16(),
            answer: String::from_utf8(answer.clone().into()).unwrap(),
        };
        // A page's question whether it may ask is said in the headers of the answer that it gets.
        if let Some(name) = self.writing.clone().filter(|_| method != Method::OPTIONS) {
            self.transcripts.entry(name).or_default().push(said);
        }
        head.headers.remove(TRANSFER_ENCODING);
        head.headers.remove(CONTENT_LENGTH);
        Response::from_parts(head, Body::from(answer))
    }
}

async fn exchanged(address: &str, request: Request<Full<Bytes>>) -> Response<Bytes> {
    let stream = TcpStream::connect(address).await.unwrap();
    let mut connection = Connection::over(stream).await.unwrap();
    let (head, body) = connection.send(request).await.unwrap().into_parts();
    Response::from_parts(head, body.collect().await.unwrap().to_bytes())
}
