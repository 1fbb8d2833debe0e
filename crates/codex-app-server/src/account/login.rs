//! Signing in with ChatGPT: what to show to the user, and how it ends.

use serde::de::IgnoredAny;
use tokio::sync::watch;

use super::{AccountEvent, AccountEvents};
use crate::client::Client;
use crate::login_watch::OwnChange;
use crate::protocol::incoming::LoginStarted;
use crate::protocol::outgoing::{LoginCancel, LoginStart, Request as _};
use crate::request_error::RequestError;

/// How to sign in with ChatGPT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginMethod {
    /// In a browser on this machine, which comes back to a fixed port.
    Browser,
    /// In any browser, with a code.
    DeviceCode,
}

/// What the user has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginPrompt {
    /// Open this page in a browser on this machine.
    Browser {
        /// The page.
        url: String,
    },
    /// Open this page anywhere, and enter the code.
    DeviceCode {
        /// The page.
        url: String,
        /// The code.
        code: String,
    },
}

/// A login that did not come to its end, or to a good one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// It was cancelled, by us or by another login.
    #[error("the login was cancelled")]
    Cancelled,
    /// The issuer or Codex did not accept it.
    #[error("{0}")]
    Failed(String),
    /// The child has gone meanwhile.
    #[error("Codex has gone before the login had ended")]
    ChildGone,
}

/// A login under way. Dropping it cancels it.
#[derive(Debug)]
pub struct Login {
    client: Client,
    id: String,
    prompt: LoginPrompt,
    ended: watch::Receiver<Option<Result<(), LoginError>>>,
}

// === impl Login ===

impl Login {
    pub(crate) async fn start(client: &Client, method: LoginMethod) -> Result<Self, RequestError> {
        let change = client.login_watch().own_change();
        // Before the request, so that nothing is missed.
        let events = client.account_events();
        let params = match method {
            LoginMethod::Browser => LoginStart::Chatgpt,
            LoginMethod::DeviceCode => LoginStart::ChatgptDeviceCode,
        };
        let started: LoginStarted = client.connection().request(&params).await?;
        let unreadable = |reason: &str| RequestError::Unreadable {
            method: LoginStart::METHOD,
            reason: reason.to_owned(),
        };
        let id = started.login_id.ok_or_else(|| unreadable("it names no login"))?;
        let prompt = match (method, started.auth_url, started.verification_url, started.user_code) {
            (LoginMethod::Browser, Some(url), _, _) => LoginPrompt::Browser { url },
            (LoginMethod::DeviceCode, _, Some(url), Some(code)) => {
                LoginPrompt::DeviceCode { url, code }
            }
            _ => return Err(unreadable("it names no page")),
        };
        let (report, ended) = watch::channel(None);
        // In a task of its own, so that whoever holds the login need not listen all the time.
        client.spawn(watch_over(client.clone(), id.clone(), events, report, change));
        Ok(Self { client: client.clone(), id, prompt, ended })
    }

    /// What the user has to do.
    pub fn prompt(&self) -> &LoginPrompt {
        &self.prompt
    }

    /// Waits for the end of the login. Cancel safe.
    ///
    /// # Errors
    /// If it was cancelled or denied, or failed in any other way.
    pub async fn finished(&mut self) -> Result<(), LoginError> {
        match self.ended.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Err(LoginError::ChildGone)),
            Err(_) => Err(LoginError::ChildGone),
        }
    }

    /// Gives the login up; [`Self::finished`] then says so.
    ///
    /// # Errors
    /// If Codex does not answer.
    pub async fn cancel(&self) -> Result<(), RequestError> {
        let cancel = LoginCancel { login_id: &self.id };
        self.client.connection().request::<_, IgnoredAny>(&cancel).await.map(|_| ())
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        if self.ended.borrow().is_none() && self.ended.has_changed().is_ok() {
            self.client.connection().cancel_login(&self.id);
        }
    }
}

async fn watch_over(
    client: Client,
    id: String,
    mut events: AccountEvents,
    report: watch::Sender<Option<Result<(), LoginError>>>,
    change: OwnChange,
) {
    let outcome = loop {
        let event = tokio::select! {
            event = events.next() => event,
            _ = client.until_gone() => None,
        };
        match event {
            Some(AccountEvent::LoginEnded { login_id, outcome })
                if login_id.as_deref() == Some(id.as_str()) =>
            {
                break outcome.map_err(|words| LoginError::from_words(&words));
            }
            Some(AccountEvent::Missed(_)) => {
                break Err(LoginError::Failed("Codex's word on the login was missed".to_owned()));
            }
            Some(_) => {}
            None => break Err(LoginError::ChildGone),
        }
    };
    // First, so that whoever hears of the end finds the account as it is now.
    drop(change);
    report.send_replace(Some(outcome));
}

// === impl LoginError ===

impl LoginError {
    /// Codex tells a cancelled login from a failed one in words only.
    fn from_words(words: &str) -> Self {
        const CANCELLED: [&str; 2] = ["Login was not completed", "Login cancelled"];
        let reason = words.strip_prefix("Login server error: ").unwrap_or(words);
        if CANCELLED.contains(&reason) { Self::Cancelled } else { Self::Failed(reason.to_owned()) }
    }
}
