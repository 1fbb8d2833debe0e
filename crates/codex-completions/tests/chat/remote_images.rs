//! Images that a request names by their address.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use configuration::{Flags, Inputs, Settings};
use http_body_util::Full;
use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use model_turn::Upstream;
use serde_json::{Value, json};
use server::{
    Access, AccessSettings, AccountLimits, Api, ApiKey, ApiSettings, App, Backend, BodyLimits,
    ConnectionLimits, ContentLog, GateSettings, IdleTimeout, ImageFetcher, ModelDirectory,
    QueueLimits, Readiness, ResponsesSettings, RunSecret,
};
use testkit::{TestPool, codex_binary};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::asking::{ask, with};
use crate::http::{Answer, Exchange};
use crate::proxy::{CHAT, Proxy};
use crate::to_the_model::{PNG, line};

/// The bytes of [`PNG`].
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\xdacd`\xf8_\x0f\0\x02\x87\x01\x80\xebG\xba\x92\0\0\0\0IEND\xaeB`\x82";

const KEY: &str = "sk-of-this-test";

/// A host with a picture, which counts who comes.
struct ImageHost {
    address: String,
    visits: watch::Receiver<usize>,
    _task: JoinSet<()>,
}

// === impl ImageHost ===

impl ImageHost {
    async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (counter, visits) = watch::channel(0);
        let mut task = JoinSet::new();
        task.spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                counter.send_modify(|visits| *visits += 1);
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let length = PIXEL.len();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
                stream.write_all(&[head.as_bytes(), PIXEL].concat()).await.unwrap();
            }
        });
        Self { address, visits, _task: task }
    }

    fn url(&self) -> String {
        format!("http://{}/a.png?signature=goldfinch", self.address)
    }

    fn visits(&self) -> usize {
        *self.visits.borrow()
    }
}

fn showing(url: &str) -> Value {
    let content = json!([
        {"type": "text", "text": "[[text]]see"}, {"type": "image_url", "image_url": {"url": url}},
    ]);
    with(ask(""), json!({"messages": [{"role": "user", "content": content}]}))
}

#[tokio::test]
async fn row_8_a_remote_image_is_refused_unless_it_is_allowed() {
    let host = ImageHost::start().await;
    let proxy = Proxy::start(&[]).await;
    let answer = proxy.chat(&showing(&host.url())).await;
    let place = json!("messages[0].content[1].image_url");
    assert_eq!(answer.error(), (400, place, json!("invalid_value")));
    assert!(answer.body.contains("PROXY_ALLOW_REMOTE_IMAGES=true"), "{}", answer.body);
    assert_eq!((host.visits(), proxy.model.requests()), (0, 0));
}

/// Where images are allowed, this machine and its networks are still out of reach.
#[tokio::test]
async fn row_8_no_image_is_fetched_from_this_machine() {
    let host = ImageHost::start().await;
    let settings = [("PROXY_ALLOW_REMOTE_IMAGES", "true"), ("PROXY_LOG", "trace")];
    let proxy = Proxy::start(&settings).await;
    let localhost = host.url().replace("127.0.0.1", "localhost");
    let mapped = host.url().replace("127.0.0.1", "[::ffff:127.0.0.1]");
    let metadata = "http://169.254.169.254/latest/meta-data/?signature=goldfinch".to_owned();
    for url in [host.url(), localhost, mapped, metadata] {
        let answer = proxy.chat(&showing(&url)).await;
        let place = json!("messages[0].content[1].image_url");
        assert_eq!(answer.error(), (400, place, json!("invalid_image_url")), "{url}");
        assert!(answer.body.contains("no public address"), "{}", answer.body);
        assert!(!answer.body.contains("goldfinch"), "{}", answer.body);
    }
    assert_eq!((host.visits(), proxy.model.requests()), (0, 0));
    // Data needs nobody else.
    assert_eq!(proxy.chat(&showing(PNG)).await.status, 200);
    assert!(!proxy.log().to_string().contains("goldfinch"));
}

/// The server as the binary puts it together, but for a fetcher that takes this machine for public.
#[tokio::test]
async fn row_8_an_allowed_image_reaches_the_model_as_data() {
    let host = ImageHost::start().await;
    let children = TestPool::with(codex_binary().await, |_| {}).await;
    children.until_ready().await;
    let upstream = || Upstream { base_url: children.model.base_url(), api_key: None };
    let pool = children.pool.clone();
    let api = Api::new(api_settings(&allowing_remote_images()), Err("no database here".into()));
    api.open(Backend {
        models: ModelDirectory::new(pool.clone(), None, Some(upstream()), upstream()),
        pool,
        images: ImageFetcher::connecting_to(|address| address.is_loopback()),
        account: AccountLimits::default(),
    });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = JoinSet::new();
    let stop = CancellationToken::new();
    serving.spawn(server::serve(vec![listener], app(&api, address.port()), stop.clone()));

    let answer = chat(&address.to_string(), &showing(&host.url())).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let received = children.model.last_request().expect("a request").body["input"].take();
    let received: Vec<_> = received.as_array().unwrap().iter().map(line).collect();
    assert_eq!(received, [format!("user: [[text]]see + [{PNG}]")]);
    assert_eq!(host.visits(), 1);
    stop.cancel();
    serving.join_all().await;
    children.pool.shutdown().await;
}

fn allowing_remote_images() -> Settings {
    let setting = ("PROXY_ALLOW_REMOTE_IMAGES", "true");
    let folder = tempfile::tempdir().unwrap();
    let inputs = Inputs {
        environment: vec![(OsString::from(setting.0), OsString::from(setting.1))],
        working_folder: folder.path().to_owned(),
        user_data: Some(folder.path().to_owned()),
        flags: Flags::default(),
    };
    configuration::load(&inputs).unwrap_or_else(|problems| panic!("{problems}")).settings
}

fn api_settings(settings: &Settings) -> ApiSettings {
    ApiSettings {
        turns: Arc::new(settings.turns.clone()),
        turn_options: settings.turn_options(),
        aliases: settings.codex.aliases.clone(),
        model_fallback: None,
        differing: "".into(),
        keep_alive: None,
        queue: QueueLimits { turns: 1, waiting: 0, longest_wait: Duration::ZERO },
        rate_limit: None,
        body: BodyLimits { bytes: 32 * 1024 * 1024, time: Duration::from_secs(30) },
        max_json_depth: 128,
        metrics: false,
        usage_max_age: Duration::MAX,
        responses: ResponsesSettings { store: false, max_age: Duration::MAX, max_bytes: 0 },
        continuity: true,
        keep_reasoning: None,
        content_log: ContentLog::Off,
        captures: None,
        shown: Arc::default(),
    }
}

fn app(api: &Api, port: u16) -> App {
    let access = AccessSettings {
        allowed_hosts: Vec::new(),
        allowed_origins: Vec::new(),
        keys: vec![ApiKey::new("default", "default", KEY)],
        key_hint: String::new(),
    };
    App {
        run_secret: RunSecret::new([0; 32]),
        api: api.routes(),
        readiness: watch::channel(Readiness::default()).1,
        queue: api.queue().clone(),
        access: Access::new(port, access),
        gate: GateSettings { protect_models: true, protect_metrics: true, max_body_bytes: 4_096 },
        limits: ConnectionLimits {
            max_connections: 8,
            header_timeout: Duration::from_mins(1),
            max_header_bytes: 16 * 1024,
            max_headers: 100,
            idle_timeout: IdleTimeout::new(Duration::from_mins(1)),
        },
    }
}

async fn chat(address: &str, body: &Value) -> Answer {
    let request = Request::post(CHAT)
        .header(HOST, address)
        .header(CONTENT_TYPE, "application/json")
        .header(AUTHORIZATION, format!("Bearer {KEY}"))
        .body(Full::from(body.to_string()))
        .unwrap();
    Exchange::begin(address, request).await.whole().await
}
