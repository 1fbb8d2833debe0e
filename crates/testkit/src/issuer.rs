//! A scripted issuer of ChatGPT logins: everything outside of Codex that a login needs.

mod answers;

use std::collections::HashSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Json, Response};
use codex_app_server::ClientConfig;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Seconds since 1970 at which the windows of the allowance begin anew, more or less: the year 2036,
/// because Codex reads no number beyond 2038 here.
const NEXT_WINDOW: u64 = 2_100_000_000;

/// A running issuer. Dropping it stops the server.
///
/// The tokens that it gives out end in their number: `…access-1`, `refresh-1`, `…access-2`, ….
pub struct ScriptedIssuer {
    address: SocketAddr,
    stage: Arc<Stage>,
    _tasks: JoinSet<()>,
    _stop: DropGuard,
}

/// How the issuer behaves; it can be changed while it runs.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// What the user does with a code, or on the page of a browser login.
    pub consent: Consent,
    /// How the account is looked up after a login.
    pub routing: Routing,
    /// Whether new tokens are given for a refresh token.
    pub login_expired: bool,
    /// How many requests for a response are refused with 401 before one is answered.
    pub unauthorized_responses: u64,
    /// Whether nothing is left of the short window, so that every response is refused.
    pub used_up: bool,
    /// Whether the account wants commits to name Codex.
    pub commit_attribution: bool,
    /// Who signs in.
    pub account: IssuedAccount,
    /// When the windows begin anew; as in [`ScriptedIssuer::USED`] unless told.
    pub resets_at: Option<[u64; 2]>,
    /// How often a refresh token is taken.
    pub refresh_tokens: RefreshTokens,
}

/// How often a refresh token is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RefreshTokens {
    /// Again and again.
    #[default]
    AnyTime,
    /// Once.
    Once,
}

/// What the user does when asked to sign in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Consent {
    /// Says yes.
    #[default]
    Given,
    /// Nothing yet.
    Pending,
    /// Says no.
    Denied,
    /// Comes back to the callback of a browser login from a page that belongs to another login.
    ForAnotherLogin,
}

/// How the account is looked up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Routing {
    /// At once.
    #[default]
    Works,
    /// Not before this changes.
    Waits,
    /// Not at all.
    Fails,
}

/// Who signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedAccount {
    /// The account.
    pub id: String,
    /// Its address.
    pub email: String,
    /// Its plan.
    pub plan: String,
    /// Name of its workspace.
    pub workspace: String,
}

/// Something that was asked of the issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerRequest {
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The body, as far as it is text.
    pub body: String,
    /// The login that it came with.
    pub authorization: Option<String>,
}

/// A window of the allowance, as the issuer tells it for every account.
#[derive(Debug, Clone, Copy)]
pub struct UsedWindow {
    /// Used part, in percent.
    pub percent: u8,
    /// Its length, in seconds.
    pub seconds: u64,
    /// When it begins anew, in seconds since 1970.
    pub resets_at: u64,
}

struct Stage {
    script: watch::Sender<Script>,
    requests: watch::Sender<Vec<IssuerRequest>>,
    /// How many sets of tokens were given out.
    issued: AtomicU64,
    /// Bodies of the refreshes so far, which name the token.
    refreshed: Mutex<HashSet<String>>,
}

// === impl ScriptedIssuer ===

impl ScriptedIssuer {
    /// The short and the long window that it tells.
    pub const USED: [UsedWindow; 2] = [
        UsedWindow { percent: 12, seconds: 5 * 3_600, resets_at: NEXT_WINDOW },
        UsedWindow { percent: 40, seconds: 7 * 86_400, resets_at: NEXT_WINDOW + 7 },
    ];

    /// Starts an issuer on 127.0.0.1 that says yes to everything.
    ///
    /// # Panics
    /// If no port can be listened on.
    #[allow(clippy::expect_used, reason = "a test without its issuer cannot go on")]
    pub async fn start() -> Self {
        Self::bind().await.expect("no port for the issuer")
    }

    async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let stage = Arc::new(Stage {
            script: watch::Sender::default(),
            requests: watch::Sender::default(),
            issued: AtomicU64::new(0),
            refreshed: Mutex::default(),
        });
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&stage));
        tasks.spawn({
            let stop = stop.clone().cancelled_owned();
            async move {
                let _ = axum::serve(listener, router).with_graceful_shutdown(stop).await;
            }
        });
        Ok(Self { address, stage, _tasks: tasks, _stop: stop.drop_guard() })
    }

    /// Lets a child use this issuer, and nothing else that is called ChatGPT.
    pub fn configure(&self, config: &mut ClientConfig) {
        config.chatgpt_base_url = Some(self.chatgpt_base_url());
        config.environment.extend(self.environment());
    }

    /// What tells a child to use this issuer.
    pub fn environment(&self) -> Vec<(String, String)> {
        [
            ("CODEX_APP_SERVER_LOGIN_ISSUER", ""),
            ("CODEX_REVOKE_TOKEN_URL_OVERRIDE", "/oauth/revoke"),
            ("CODEX_REFRESH_TOKEN_URL_OVERRIDE", "/oauth/token"),
        ]
        .map(|(name, path)| (name.to_owned(), format!("{}{path}", self.url())))
        .into()
    }

    /// Where the issuer is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where a child looks up the account and its limits.
    pub fn chatgpt_base_url(&self) -> String {
        format!("{}/backend-api", self.url())
    }

    /// The URL of a Responses API that takes the issuer's tokens.
    pub fn responses_base_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// Changes how the issuer behaves from now on.
    pub fn change(&self, change: impl FnOnce(&mut Script)) {
        self.stage.script.send_modify(change);
    }

    /// What was asked so far, oldest first.
    pub fn requests(&self) -> Vec<IssuerRequest> {
        self.stage.requests.borrow().clone()
    }

    /// What was asked so far at the paths with this ending.
    pub fn requests_at(&self, ending: &str) -> Vec<IssuerRequest> {
        let at = |request: &IssuerRequest| request.path.ends_with(ending);
        self.requests().into_iter().filter(at).collect()
    }

    /// Waits until so many requests have come at the paths with this ending.
    pub async fn until_asked(&self, ending: &str, times: usize) {
        let mut requests = self.stage.requests.subscribe();
        let enough = |requests: &Vec<IssuerRequest>| {
            requests.iter().filter(|request| request.path.ends_with(ending)).count() >= times
        };
        // Waiting fails only when the requests are gone, which `self` keeps alive.
        let _ = requests.wait_for(enough).await;
    }
}

// === impl IssuedAccount ===

impl Default for IssuedAccount {
    fn default() -> Self {
        Self {
            id: "account-1".to_owned(),
            email: "me@example.com".to_owned(),
            plan: "plus".to_owned(),
            workspace: "Home".to_owned(),
        }
    }
}

impl IssuedAccount {
    /// Another one than the default.
    pub fn another() -> Self {
        Self {
            id: "account-2".to_owned(),
            email: "you@example.com".to_owned(),
            plan: "pro".to_owned(),
            workspace: "Work".to_owned(),
        }
    }
}

// === impl IssuerRequest ===

impl IssuerRequest {
    /// Number of the access token that it came with.
    pub fn token(&self) -> Option<u64> {
        self.authorization.as_ref()?.rsplit_once("access-")?.1.parse().ok()
    }
}

// === impl Stage ===

impl Stage {
    fn script(&self) -> Script {
        self.script.borrow().clone()
    }

    fn tokens(&self, body: &str) -> Response {
        let script = self.script();
        let is_refresh = body.contains("refresh_token");
        if is_refresh && script.login_expired {
            let error = json!({"code": "refresh_token_expired", "message": "expired"});
            return answers::refused(StatusCode::UNAUTHORIZED, &error);
        }
        let is_new =
            !is_refresh || self.refreshed.lock().is_ok_and(|mut seen| seen.insert(body.to_owned()));
        if !is_new && script.refresh_tokens == RefreshTokens::Once {
            let error = json!({"code": "refresh_token_reused", "message": "used before"});
            return answers::refused(StatusCode::UNAUTHORIZED, &error);
        }
        let number = self.issued.fetch_add(1, Ordering::Relaxed) + 1;
        answers::tokens(&script.account, number)
    }

    async fn accounts(&self) -> Response {
        let mut scripts = self.script.subscribe();
        let decided = scripts.wait_for(|script| script.routing != Routing::Waits).await;
        let Some(Script { account, routing: Routing::Works, .. }) = decided.as_deref().ok() else {
            return answers::refused(StatusCode::SERVICE_UNAVAILABLE, &"no accounts today".into());
        };
        answers::accounts(account)
    }

    fn response(&self) -> Response {
        let mut refuse = false;
        self.script.send_if_modified(|script| {
            refuse = script.unauthorized_responses > 0;
            script.unauthorized_responses = script.unauthorized_responses.saturating_sub(1);
            refuse
        });
        if refuse {
            let error = json!({"code": "token_expired", "message": "not with this token"});
            return answers::refused(StatusCode::UNAUTHORIZED, &error);
        }
        if self.script.borrow().used_up {
            return answers::nothing_left();
        }
        answers::response("signed in")
    }
}

async fn answer(
    State(stage): State<Arc<Stage>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> Response {
    let body = String::from_utf8_lossy(&body).into_owned();
    let authorization = headers.get(header::AUTHORIZATION).map(header::HeaderValue::as_bytes);
    let request = IssuerRequest {
        method: method.to_string(),
        path: uri.path().to_owned(),
        body: body.clone(),
        authorization: authorization.map(|login| String::from_utf8_lossy(login).into_owned()),
    };
    stage.requests.send_modify(|requests| requests.push(request));
    let consent = stage.script.borrow().consent;
    match (method.as_str(), uri.path()) {
        ("POST", "/api/accounts/deviceauth/usercode") => answers::new_code(),
        ("POST", "/api/accounts/deviceauth/token") => answers::code_entered(consent),
        ("GET", "/oauth/authorize") => {
            answers::back_to_codex(consent, uri.query().unwrap_or_default())
        }
        ("POST", "/oauth/token") => stage.tokens(&body),
        ("POST", "/oauth/revoke") => Json(json!({})).into_response(),
        ("GET", "/backend-api/wham/accounts/check") => stage.accounts().await,
        ("GET", "/backend-api/wham/usage") => answers::usage(&stage.script()),
        ("GET", "/backend-api/wham/settings/user") if stage.script.borrow().commit_attribution => {
            Json(json!({"commit_attribution_enabled": true})).into_response()
        }
        ("POST", "/v1/responses") => stage.response(),
        _ => answers::refused(StatusCode::NOT_FOUND, &"there is nothing here".into()),
    }
}
