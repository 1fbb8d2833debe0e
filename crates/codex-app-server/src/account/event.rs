//! What happens to the account, as it happens.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::RateLimits;
use crate::connection::{Connection, Notification};
use crate::protocol::incoming::{AccountUpdated, AuthRecovery, LoginCompleted, RateLimitsRead};

/// Something that happened to the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountEvent {
    /// A login has ended.
    LoginEnded {
        /// Which one; a login with an API key has no id.
        login_id: Option<String>,
        /// Why it failed, or that it did not.
        outcome: Result<(), String>,
    },
    /// Somebody else is signed in now, or nobody.
    Changed {
        /// `apikey`, `chatgpt`, …; `None` is nobody.
        mode: Option<String>,
        /// The plan of a ChatGPT account.
        plan: Option<String>,
    },
    /// What the upstream said about the allowance, with an answer.
    RateLimits(RateLimits),
    /// The upstream did not accept the login, and Codex tries to mend it.
    RecoveryStarted(String),
    /// That attempt has ended.
    RecoveryEnded(String),
    /// So many notifications were not read in time; some may have been of the account.
    Missed(u64),
}

/// The events of one client, from the time on when this was made.
#[derive(Debug)]
pub struct AccountEvents {
    notifications: broadcast::Receiver<Notification>,
    gone: watch::Receiver<Option<Arc<str>>>,
}

// === impl AccountEvents ===

impl AccountEvents {
    pub(crate) fn of(connection: &Connection) -> Self {
        Self { notifications: connection.notifications(), gone: connection.closed() }
    }

    /// The next event; `None` when the child has gone.
    ///
    /// Cancel safe.
    pub async fn next(&mut self) -> Option<AccountEvent> {
        loop {
            let received = tokio::select! {
                biased;
                received = self.notifications.recv() => received,
                _ = self.gone.wait_for(Option::is_some) => return None,
            };
            match received {
                Ok(notification) => {
                    if let Some(event) = AccountEvent::read(&notification) {
                        return Some(event);
                    }
                }
                Err(RecvError::Lagged(count)) => return Some(AccountEvent::Missed(count)),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

// === impl AccountEvent ===

impl AccountEvent {
    fn read(notification: &Notification) -> Option<Self> {
        fn params<T: DeserializeOwned>(notification: &Notification) -> Option<T> {
            let params = notification.params.as_deref()?;
            serde_json::from_str(params.get())
                .inspect_err(|error| {
                    let method = &notification.method;
                    tracing::warn!(method, %error, "a notification of the account is not understood");
                })
                .ok()
        }
        match notification.method.as_str() {
            "account/login/completed" => {
                let LoginCompleted { login_id, success, error } = params(notification)?;
                let reason = || error.unwrap_or_else(|| "Codex gave no reason".to_owned());
                let outcome = if success { Ok(()) } else { Err(reason()) };
                Some(Self::LoginEnded { login_id, outcome })
            }
            "account/updated" => {
                let AccountUpdated { auth_mode, plan_type } = params(notification)?;
                Some(Self::Changed { mode: auth_mode, plan: plan_type })
            }
            "account/rateLimits/updated" => {
                let RateLimitsRead { rate_limits } = params(notification)?;
                Some(Self::RateLimits(rate_limits.into()))
            }
            "modelProvider/authRecoveryStarted" => {
                let AuthRecovery { message } = params(notification)?;
                Some(Self::RecoveryStarted(message))
            }
            "modelProvider/authRecoveryCompleted" => {
                let AuthRecovery { message } = params(notification)?;
                Some(Self::RecoveryEnded(message))
            }
            _ => None,
        }
    }
}
