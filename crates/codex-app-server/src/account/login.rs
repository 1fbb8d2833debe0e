//! Signing in with ChatGPT: what to show to the user, and how it ends.

use std::sync::Arc;

use serde::de::IgnoredAny;
use tokio::sync::{oneshot, watch};

use super::{AccountEvent, AccountEvents};
use crate::client::Client;
use crate::connection::Connection;
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

/// What the user has to do. Whoever sees it can sign in here while the login lasts.
#[derive(Clone, PartialEq, Eq)]
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
    begun: Begun,
    /// As long as there is the login, there is the child.
    _client: Client,
}

/// The same without the child, which the task behind the login must not keep.
struct Begun {
    connection: Arc<Connection>,
    id: String,
    prompt: LoginPrompt,
    ended: watch::Receiver<Option<Outcome>>,
}

/// What becomes of a login, told once.
type Outcome = Result<(), LoginError>;

// === impl Login ===

impl Login {
    pub(crate) async fn start(client: &Client, method: LoginMethod) -> Result<Self, RequestError> {
        let connection = Arc::clone(client.connection());
        let change = client.login_watch().own_change();
        let (begun, beginning) = oneshot::channel();
        // In a task of its own, so that whoever asks for the login, or holds it, can go at any time.
        client.spawn(async move {
            let events = AccountEvents::of(&connection);
            match begin(&connection, method).await {
                Ok((id, prompt)) => {
                    let (report, ended) = watch::channel(None);
                    let held = Arc::clone(&connection);
                    let login = Begun { connection: held, id: id.clone(), prompt, ended };
                    // If nobody wants to hear of it any more, it is dropped, and so cancelled.
                    let _ = begun.send(Ok(login));
                    let outcome = watch_over(&connection, &id, events).await;
                    if outcome.is_ok() {
                        change.made();
                    }
                    report.send_replace(Some(outcome));
                }
                Err(error) => {
                    let _ = begun.send(Err(error));
                }
            }
        });
        let gone = || RequestError::ChildGone(Arc::from("Codex has gone"));
        let begun = beginning.await.map_err(|_| gone())??;
        Ok(Self { begun, _client: client.clone() })
    }

    /// What the user has to do.
    pub fn prompt(&self) -> &LoginPrompt {
        &self.begun.prompt
    }

    /// Waits for the end of the login. Cancel safe.
    ///
    /// # Errors
    /// If it was cancelled or denied, or failed in any other way.
    pub async fn finished(&mut self) -> Result<(), LoginError> {
        match self.begun.ended.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Err(LoginError::ChildGone)),
            Err(_) => Err(LoginError::ChildGone),
        }
    }

    /// Gives the login up; [`Self::finished`] then says so.
    ///
    /// # Errors
    /// If Codex does not answer.
    pub async fn cancel(&self) -> Result<(), RequestError> {
        let cancel = LoginCancel { login_id: &self.begun.id };
        self.begun.connection.request::<_, IgnoredAny>(&cancel).await.map(|_| ())
    }
}

// === impl Begun ===

impl Drop for Begun {
    fn drop(&mut self) {
        if self.ended.borrow().is_none() {
            self.connection.cancel_login(&self.id);
        }
    }
}

impl std::fmt::Debug for Begun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Begun").field("id", &self.id).finish_non_exhaustive()
    }
}

async fn begin(
    connection: &Connection,
    method: LoginMethod,
) -> Result<(String, LoginPrompt), RequestError> {
    let params = match method {
        LoginMethod::Browser => LoginStart::Chatgpt,
        LoginMethod::DeviceCode => LoginStart::ChatgptDeviceCode,
    };
    let started: LoginStarted = connection.request(&params).await?;
    let unreadable = |reason: &str| RequestError::Unreadable {
        method: LoginStart::METHOD,
        reason: reason.to_owned(),
    };
    let id = started.login_id.ok_or_else(|| unreadable("it names no login"))?;
    match (method, started.auth_url, started.verification_url, started.user_code) {
        (LoginMethod::Browser, Some(url), _, _) => Ok((id, LoginPrompt::Browser { url })),
        (LoginMethod::DeviceCode, _, Some(url), Some(code)) => {
            Ok((id, LoginPrompt::DeviceCode { url, code }))
        }
        _ => {
            connection.cancel_login(&id);
            Err(unreadable("it names no page"))
        }
    }
}

async fn watch_over(connection: &Connection, id: &str, mut events: AccountEvents) -> Outcome {
    loop {
        match events.next().await {
            Some(AccountEvent::LoginEnded { login_id, outcome })
                if login_id.as_deref() == Some(id) =>
            {
                return outcome.map_err(|words| LoginError::from_words(&words));
            }
            Some(AccountEvent::Missed(_)) => {
                // Its end may be among what was missed. If not, this is one.
                connection.cancel_login(id);
                let words = "Codex's word on the login was missed";
                return Err(LoginError::Failed(words.to_owned()));
            }
            Some(_) => {}
            None => return Err(LoginError::ChildGone),
        }
    }
}

// === impl LoginPrompt ===

impl std::fmt::Debug for LoginPrompt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Browser { .. } => "Browser { (hidden) }",
            Self::DeviceCode { .. } => "DeviceCode { (hidden) }",
        })
    }
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
