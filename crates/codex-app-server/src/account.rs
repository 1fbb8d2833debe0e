//! The owner's account: who is signed in, signing in and out, and what is left of the allowance.

mod event;
mod login;
mod separate_login;

pub use crate::login_import::{ImportError, LoginKind, PresentLogin, import_login};
pub use event::{AccountEvent, AccountEvents};
pub use login::{Login, LoginError, LoginMethod, LoginPrompt};
pub use separate_login::{InstallError, LoginInPlace, SeparateLogin};

use std::time::Duration;

use serde::de::IgnoredAny;

use crate::client::Client;
use crate::protocol::incoming::{self, RateLimitSnapshot, RateLimitsRead};
use crate::protocol::outgoing::{self, LoginStart, Logout};
use crate::request_error::RequestError;

/// Who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Account {
    /// Whoever has the API key, which pays by use.
    ApiKey,
    /// A ChatGPT account.
    ChatGpt {
        /// Its address, if it tells.
        email: Option<String>,
        /// Its plan: `free`, `plus`, `pro`, ….
        plan: Option<String>,
        /// Its workspace, if it has several.
        workspace: Option<String>,
    },
    /// Something that this library does not know.
    Other(String),
}

/// How much of the account's allowance is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Of the short window, which is some hours.
    pub primary: Option<LimitWindow>,
    /// Of the long window, which is a week or a month.
    pub secondary: Option<LimitWindow>,
    /// The plan that sets the limits.
    pub plan: Option<String>,
    /// Credits beyond the plan, as Codex writes them.
    pub credits: Option<String>,
    /// Which limit is reached, if one is.
    pub reached: Option<String>,
}

/// One window of an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitWindow {
    /// Used part, in percent.
    pub used_percent: u8,
    /// Its length.
    pub length: Option<Duration>,
    /// When it begins anew, in seconds since 1970.
    pub resets_at: Option<u64>,
}

// === impl Client ===

impl Client {
    /// Whether there is a login, good or not.
    pub fn is_signed_in(&self) -> bool {
        self.login_watch().file().exists()
    }

    /// Who is signed in; `None` is nobody.
    ///
    /// # Errors
    /// If Codex does not answer, or cannot tell: a ChatGPT login whose workspace it could not look
    /// up is neither there nor away.
    pub async fn account(&self) -> Result<Option<Account>, RequestError> {
        self.read_account(false).await
    }

    /// The same after Codex has got new tokens for a ChatGPT login. Where it gets none because the
    /// login has expired, nobody is signed in any more.
    ///
    /// # Errors
    /// As [`Self::account`].
    pub async fn refresh_account(&self) -> Result<Option<Account>, RequestError> {
        self.read_account(true).await
    }

    async fn read_account(&self, refresh_token: bool) -> Result<Option<Account>, RequestError> {
        let read = outgoing::AccountRead { refresh_token };
        let read: incoming::AccountRead = self.connection().request(&read).await?;
        Ok(read.account.map(Account::from))
    }

    /// Signs in with an API key. Whether the key is any good is seen when it is used.
    ///
    /// # Errors
    /// If Codex does not take it.
    pub async fn login_with_api_key(&self, api_key: &str) -> Result<(), RequestError> {
        let change = self.login_watch().own_change();
        let start = LoginStart::ApiKey { api_key };
        self.connection().request::<_, IgnoredAny>(&start).await?;
        change.made();
        Ok(())
    }

    /// Begins to sign in with ChatGPT. There is only one such login at a time: another one
    /// cancels the first.
    ///
    /// # Errors
    /// If Codex does not begin it, for instance without a network.
    pub async fn login(&self, method: LoginMethod) -> Result<Login, RequestError> {
        Login::start(self, method).await
    }

    /// Signs out, and asks the upstream to forget the login.
    ///
    /// # Errors
    /// If Codex does not answer.
    pub async fn logout(&self) -> Result<(), RequestError> {
        let change = self.login_watch().own_change();
        self.connection().request::<_, IgnoredAny>(&Logout).await?;
        change.made();
        Ok(())
    }

    /// How much of the allowance is used; only a ChatGPT login has one.
    ///
    /// # Errors
    /// If nobody is signed in with ChatGPT, or the upstream does not answer Codex.
    pub async fn rate_limits(&self) -> Result<RateLimits, RequestError> {
        let read = outgoing::RateLimitsRead { exclude_reset_credit_details: true };
        let read: RateLimitsRead = self.connection().request(&read).await?;
        Ok(read.rate_limits.into())
    }

    /// What happens to the account from now on.
    pub fn account_events(&self) -> AccountEvents {
        AccountEvents::of(self.connection())
    }
}

// === impl Account ===

impl Account {
    /// Who it is, in a word or a few.
    pub fn name(&self) -> &str {
        match self {
            Self::ApiKey => "an API key",
            Self::ChatGpt { email, .. } => email.as_deref().unwrap_or("a ChatGPT account"),
            Self::Other(kind) => kind,
        }
    }
}

impl From<incoming::AccountInfo> for Account {
    fn from(info: incoming::AccountInfo) -> Self {
        match info.r#type.as_str() {
            "apiKey" => Self::ApiKey,
            "chatgpt" => Self::ChatGpt {
                email: info.email,
                plan: info.plan_type,
                workspace: info.workspace_name,
            },
            _ => Self::Other(info.r#type),
        }
    }
}

// === impl RateLimits ===

impl From<RateLimitSnapshot> for RateLimits {
    fn from(snapshot: RateLimitSnapshot) -> Self {
        let credits = snapshot.credits.and_then(|credits| {
            if credits.unlimited {
                return Some("unlimited".to_owned());
            }
            credits.balance.filter(|_| credits.has_credits)
        });
        Self {
            primary: snapshot.primary.map(LimitWindow::from),
            secondary: snapshot.secondary.map(LimitWindow::from),
            plan: snapshot.plan_type,
            credits,
            reached: snapshot.rate_limit_reached_type,
        }
    }
}

impl RateLimits {
    /// Takes over what an update tells; it leaves out what has not changed.
    pub fn update(&mut self, update: Self) {
        let Self { primary, secondary, plan, credits, reached } = update;
        self.primary = primary.or(self.primary);
        self.secondary = secondary.or(self.secondary);
        self.plan = plan.or(self.plan.take());
        self.credits = credits.or(self.credits.take());
        self.reached = reached;
    }
}

// === impl LimitWindow ===

impl LimitWindow {
    /// Whether nothing is left of it.
    pub fn is_used_up(&self) -> bool {
        self.used_percent >= 100
    }
}

impl From<incoming::RateLimitWindow> for LimitWindow {
    fn from(window: incoming::RateLimitWindow) -> Self {
        let positive = |number: i64| u64::try_from(number).ok();
        Self {
            used_percent: u8::try_from(window.used_percent.clamp(0, 100)).unwrap_or(100),
            length: window
                .window_duration_mins
                .and_then(positive)
                .map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
            resets_at: window.resets_at.and_then(positive),
        }
    }
}
