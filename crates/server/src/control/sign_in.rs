//! Signing in to Codex on behalf of somebody at a browser.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use codex_app_server::account::{Login, LoginError, LoginMethod, LoginPrompt};
use codex_app_server::{Client, RequestError};
use serde::Serialize;
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::account_limits::AccountLimits;

/// How long a login that is given up may take to end.
const GIVEN_UP_WITHIN: Duration = Duration::from_secs(3);

/// The login that is under way, or was the last one.
#[derive(Debug, Default)]
pub(crate) struct SignIn {
    /// One begins at a time. Cancelled to give up the one that waits.
    current: Mutex<CancellationToken>,
    view: watch::Sender<Option<LoginView>>,
}

/// What is told of a login. Whoever sees the prompt can sign in here.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LoginView {
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

    /// Begins to sign in; another login that waits is given up.
    pub(crate) async fn start(
        &self,
        client: &Client,
        method: LoginMethod,
        account: &AccountLimits,
        tasks: &TaskTracker,
    ) -> Result<LoginView, RequestError> {
        let mut current = self.current.lock().await;
        self.give_up(&current).await;
        let login = client.login(method).await?;
        let view = LoginView::waiting(login.prompt());
        *current = CancellationToken::new();
        self.view.send_replace(Some(view.clone()));
        tasks.spawn(see_through(login, current.clone(), account.clone(), self.view.clone()));
        Ok(view)
    }

    /// Signs in with a key that pays by use.
    pub(crate) async fn with_api_key(
        &self,
        client: &Client,
        key: &str,
        account: &AccountLimits,
    ) -> Result<LoginView, RequestError> {
        let current = self.current.lock().await;
        self.give_up(&current).await;
        client.login_with_api_key(key).await?;
        account.look_anew().await;
        let view = LoginView { state: LoginState::Succeeded, ..LoginView::begun("api_key") };
        self.view.send_replace(Some(view.clone()));
        Ok(view)
    }

    /// Gives up the login that waits, if one does.
    pub(crate) async fn cancel(&self) -> Option<LoginView> {
        let current = self.current.lock().await;
        self.give_up(&current).await;
        self.view()
    }

    /// The same, and what became of it is of no interest any more.
    pub(crate) async fn forget(&self) {
        let current = self.current.lock().await;
        self.give_up(&current).await;
        self.view.send_replace(None);
    }

    async fn give_up(&self, current: &CancellationToken) {
        current.cancel();
        let mut view = self.view.subscribe();
        let is_over = |view: &Option<LoginView>| !view.as_ref().is_some_and(LoginView::waits);
        let _ = tokio::time::timeout(GIVEN_UP_WITHIN, view.wait_for(is_over)).await;
    }
}

/// Waits for the end of a login, and tells it.
async fn see_through(
    mut login: Login,
    given_up: CancellationToken,
    account: AccountLimits,
    view: watch::Sender<Option<LoginView>>,
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
    view.send_modify(|view| {
        if let Some(view) = view {
            view.end(&outcome);
        }
    });
}

// === impl LoginView ===

impl LoginView {
    fn begun(method: &'static str) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            method,
            state: LoginState::Waiting,
            url: None,
            code: None,
            message: None,
            started_at: now.as_secs(),
        }
    }

    fn waiting(prompt: &LoginPrompt) -> Self {
        match prompt {
            LoginPrompt::Browser { url } => {
                Self { url: Some(url.clone()), ..Self::begun("browser") }
            }
            LoginPrompt::DeviceCode { url, code } => Self {
                url: Some(url.clone()),
                code: Some(code.clone()),
                ..Self::begun("device_code")
            },
        }
    }

    fn waits(&self) -> bool {
        self.state == LoginState::Waiting
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

impl std::fmt::Debug for LoginView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginView").field("state", &self.state).finish_non_exhaustive()
    }
}
