//! What is shown of a sign-in.

use std::fmt;

use codex_app_server::account::LoginPrompt;
use serde::Serialize;

use crate::answering::seconds_since_1970;

/// What is shown of a sign-in. The prompt is enough to sign in here.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LoginView {
    /// Of which attempt; what becomes of an older one is not shown. A confirmation names it.
    #[serde(rename = "id")]
    pub(super) number: u64,
    method: &'static str,
    state: LoginState,
    /// Where to sign in, while it waits.
    url: Option<String>,
    /// What to enter there, while it waits.
    code: Option<String>,
    /// Who has signed in, while that has to be confirmed.
    account: Option<String>,
    /// Whose login would be replaced, while that has to be confirmed.
    replaces: Option<String>,
    /// Why it failed or was cancelled.
    message: Option<String>,
    /// In seconds since 1970.
    started_at: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LoginState {
    /// A child starts, and asks the issuer for a page.
    Starting,
    /// The owner is asked to sign in there.
    Waiting,
    /// The owner is asked whether another account is wanted.
    Confirming,
    /// The login is put in place, and taken up by the children.
    Installing,
    Succeeded,
    Failed,
    Cancelled,
}

// === impl LoginView ===

impl LoginView {
    pub(super) fn begun(number: u64, method: &'static str) -> Self {
        Self {
            number,
            method,
            state: LoginState::Starting,
            url: None,
            code: None,
            account: None,
            replaces: None,
            message: None,
            started_at: seconds_since_1970(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        match self.state {
            LoginState::Starting
            | LoginState::Waiting
            | LoginState::Confirming
            | LoginState::Installing => true,
            LoginState::Succeeded | LoginState::Failed | LoginState::Cancelled => false,
        }
    }

    /// Whether the owner is asked to confirm this attempt.
    pub(super) fn waits_for(&self, number: u64) -> bool {
        self.state == LoginState::Confirming && self.number == number
    }

    pub(super) fn wait_for(&mut self, prompt: &LoginPrompt) {
        let (url, code) = match prompt {
            LoginPrompt::Browser { url } => (url, None),
            LoginPrompt::DeviceCode { url, code } => (url, Some(code.clone())),
        };
        (self.state, self.url, self.code) = (LoginState::Waiting, Some(url.clone()), code);
    }

    pub(super) fn ask_whether(&mut self, account: &str, replaces: &str) {
        self.enter(LoginState::Confirming, None);
        self.account = Some(account.to_owned());
        self.replaces = Some(replaces.to_owned());
    }

    /// What was only of use until then is not shown any more.
    pub(super) fn enter(&mut self, state: LoginState, message: Option<String>) {
        let Self { number, method, started_at, .. } = *self;
        *self = Self { state, message, started_at, ..Self::begun(number, method) };
    }
}

impl fmt::Debug for LoginView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginView").field("state", &self.state).finish_non_exhaustive()
    }
}
