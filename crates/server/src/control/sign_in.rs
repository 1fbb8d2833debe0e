//! Signing in to Codex on behalf of somebody at a browser.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use codex_app_server::account::{Login, LoginError, LoginMethod, LoginPrompt};
use codex_app_server::{Client, RequestError};
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::account_limits::AccountLimits;
use crate::answering::seconds_since_1970;

/// How long a login that is given up may take to end.
const GIVEN_UP_WITHIN: Duration = Duration::from_secs(3);

/// The login that is under way, or was the last one.
#[derive(Debug, Default)]
pub(crate) struct SignIn {
    view: Arc<watch::Sender<Option<LoginView>>>,
    /// The last one that began.
    current: Mutex<Attempt>,
}

/// One login.
#[derive(Debug, Clone, Default)]
struct Attempt {
    number: u64,
    given_up: CancellationToken,
}

/// What is told of a login. Whoever sees the prompt can sign in here.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LoginView {
    /// Of which attempt; what an older one comes to is of no interest.
    #[serde(skip)]
    number: u64,
    method: &'static str,
    state: LoginState,
    /// Where to sign in, while it waits.
    url: Option<String>,
    /// What to enter there, while it waits.
    code: Option<String>,
    /// Why it failed.
    message: Option<String>,
    /// In seconds since 1970.
    started_at: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum LoginState {
    /// Codex asks the issuer for a page.
    Starting,
    /// The user is asked to sign in there.
    Waiting,
    Succeeded,
    Failed,
    Cancelled,
}

// === impl SignIn ===

impl SignIn {
    /// What became of the last one.
    pub(crate) fn view(&self) -> Option<LoginView> {
        self.view.borrow().clone()
    }

    /// Begins to sign in; another login that is under way is given up.
    pub(crate) async fn start(
        &self,
        client: &Client,
        method: LoginMethod,
        account: &AccountLimits,
        tasks: &TaskTracker,
    ) -> Result<Option<LoginView>, RequestError> {
        self.give_up().await;
        let attempt = self.begin(match method {
            LoginMethod::Browser => "browser",
            LoginMethod::DeviceCode => "device_code",
        });
        let number = attempt.number;
        let begun = tokio::select! {
            begun = client.login(method) => begun,
            () = attempt.given_up.cancelled() => {
                tell(&self.view, number, |view| view.end(&Err(LoginError::Cancelled)));
                return Ok(self.view());
            }
        };
        match begun {
            Ok(login) => {
                tell(&self.view, number, |view| view.wait_for(login.prompt()));
                let told = Arc::clone(&self.view);
                tasks.spawn(see_through(login, attempt, account.clone(), told));
                Ok(self.view())
            }
            Err(error) => {
                let failed = LoginError::Failed(error.in_plain_words());
                tell(&self.view, number, |view| view.end(&Err(failed)));
                Err(error)
            }
        }
    }

    /// Signs in with a key that pays by use.
    pub(crate) async fn with_api_key(
        &self,
        client: &Client,
        key: &str,
        account: &AccountLimits,
    ) -> Result<Option<LoginView>, RequestError> {
        self.give_up().await;
        let Attempt { number, .. } = self.begin("api_key");
        let outcome = client.login_with_api_key(key).await;
        if outcome.is_ok() {
            account.look_anew().await;
        }
        let told = outcome.clone().map_err(|error| LoginError::Failed(error.in_plain_words()));
        tell(&self.view, number, |view| view.end(&told));
        outcome.map(|()| self.view())
    }

    /// Gives up the login that is under way, if one is.
    pub(crate) async fn cancel(&self) -> Option<LoginView> {
        self.give_up().await;
        self.view()
    }

    /// The same, and what became of it is of no interest any more.
    pub(crate) async fn forget(&self) {
        self.give_up().await;
        self.view.send_replace(None);
    }

    fn begin(&self, method: &'static str) -> Attempt {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.given_up.cancel();
        let number = current.number + 1;
        *current = Attempt { number, given_up: CancellationToken::new() };
        self.view.send_replace(Some(LoginView::begun(number, method)));
        current.clone()
    }

    async fn give_up(&self) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        current.given_up.cancel();
        let mut view = self.view.subscribe();
        let is_over = |view: &Option<LoginView>| !view.as_ref().is_some_and(LoginView::is_open);
        let _ = tokio::time::timeout(GIVEN_UP_WITHIN, view.wait_for(is_over)).await;
    }
}

/// Changes what is told, if it is still told of this attempt.
fn tell(told: &watch::Sender<Option<LoginView>>, number: u64, change: impl FnOnce(&mut LoginView)) {
    told.send_modify(|view| {
        if let Some(view) = view.as_mut().filter(|view| view.number == number) {
            change(view);
        }
    });
}

/// Waits for the end of a login, and tells it.
async fn see_through(
    mut login: Login,
    Attempt { number, given_up }: Attempt,
    account: AccountLimits,
    told: Arc<watch::Sender<Option<LoginView>>>,
) {
    let outcome = tokio::select! {
        outcome = login.finished() => outcome,
        () = given_up.cancelled() => {
            let cancelled = async {
                // If Codex does not hear it, it is dropped.
                let _ = login.cancel().await;
                // It may have come to its end after all.
                login.finished().await
            };
            let cancelled = tokio::time::timeout(GIVEN_UP_WITHIN, cancelled).await;
            cancelled.unwrap_or(Err(LoginError::Cancelled))
        }
    };
    if outcome.is_ok() {
        // Whoever is told that it has succeeded can be told who it is.
        account.look_anew().await;
    }
    tell(&told, number, |view| view.end(&outcome));
}

// === impl LoginView ===

impl LoginView {
    fn begun(number: u64, method: &'static str) -> Self {
        Self {
            number,
            method,
            state: LoginState::Starting,
            url: None,
            code: None,
            message: None,
            started_at: seconds_since_1970(),
        }
    }

    fn is_open(&self) -> bool {
        matches!(self.state, LoginState::Starting | LoginState::Waiting)
    }

    fn wait_for(&mut self, prompt: &LoginPrompt) {
        let (url, code) = match prompt {
            LoginPrompt::Browser { url } => (url, None),
            LoginPrompt::DeviceCode { url, code } => (url, Some(code.clone())),
        };
        // It is put into a link; whatever else the issuer says there, nobody should follow it.
        if !["https://", "http://"].iter().any(|scheme| url.starts_with(scheme)) {
            let words = "the issuer named no web page to sign in at";
            return self.end(&Err(LoginError::Failed(words.to_owned())));
        }
        (self.state, self.url, self.code) = (LoginState::Waiting, Some(url.clone()), code);
    }

    fn end(&mut self, outcome: &Result<(), LoginError>) {
        let (state, message) = match outcome {
            Ok(()) => (LoginState::Succeeded, None),
            Err(LoginError::Cancelled) => (LoginState::Cancelled, None),
            Err(error) => (LoginState::Failed, Some(error.to_string())),
        };
        *self = Self { state, message, url: None, code: None, ..self.clone() };
    }
}

impl fmt::Debug for LoginView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginView").field("state", &self.state).finish_non_exhaustive()
    }
}
