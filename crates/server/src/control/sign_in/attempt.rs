//! One sign-in, from its child to the login in place.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use codex_app_server::account::{Account, LoginError, LoginInPlace, LoginPrompt, SeparateLogin};
use codex_app_server::{Pool, RequestError};
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::SignInMethod;
use super::view::{LoginState, LoginView};
use crate::account_limits::{AccountLimits, OwnChange};
use crate::gate::admission::OwnerGrant;

/// How long another account waits for the owner to confirm it; until then its tokens are on disk.
const CONFIRMED_WITHIN: Duration = Duration::from_mins(10);

/// One sign-in.
pub(super) struct Attempt {
    pub(super) number: u64,
    pub(super) method: &'static str,
    /// Name of the key that began it.
    pub(super) key: String,
    pub(super) grant: OwnerGrant,
    pub(super) orders: watch::Receiver<Order>,
    pub(super) shown: Arc<watch::Sender<Option<LoginView>>>,
    /// Answered once, when the owner has to do something or it has ended.
    pub(super) begun: Mutex<Option<oneshot::Sender<Result<(), String>>>>,
    pub(super) pool: Pool,
    pub(super) account: AccountLimits,
    pub(super) stopping: CancellationToken,
}

/// What the owner wants of an attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Proceed,
    /// Another account is wanted.
    Confirm,
    CallOff(Reason),
}

/// Why an attempt was called off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Cancelled,
    Replaced,
    /// The same, by another Codex on this machine.
    ReplacedElsewhere,
    SignedOut,
    KeyEnded,
    NotConfirmed,
    Stopping,
}

/// An attempt that changed nothing.
enum Discarded {
    CalledOff(Reason),
    Failed(String),
}

/// A login that may be installed.
struct Obtained {
    account: Account,
    /// What it was compared with.
    before: LoginInPlace,
}

// === impl Attempt ===

impl Attempt {
    /// Signs in. Its end is shown when nothing of it is left but the login, if it was installed.
    pub(super) async fn run(self, method: SignInMethod) {
        let ended = match self.start_child().await {
            Ok(child) => match self.sign_in(&child, method).await {
                Ok(change) => Ok(self.take_up(child, change).await),
                Err(discarded) => {
                    child.discard().await;
                    Err(discarded)
                }
            },
            Err(discarded) => Err(discarded),
        };
        self.end(ended);
    }

    async fn start_child(&self) -> Result<SeparateLogin, Discarded> {
        let stop = CancellationToken::new();
        let mut starting = pin!(SeparateLogin::start(&self.pool, &stop));
        let reason = tokio::select! {
            biased;
            reason = self.called_off() => reason,
            started = &mut starting => {
                return started.map_err(|error| Discarded::Failed(error.to_string()));
            }
        };
        stop.cancel();
        if let Ok(child) = starting.await {
            child.discard().await;
        }
        Err(Discarded::CalledOff(reason))
    }

    /// Obtains a login and installs it. It is in place at the end, or else nothing has changed.
    async fn sign_in(
        &self,
        child: &SeparateLogin,
        method: SignInMethod,
    ) -> Result<OwnChange, Discarded> {
        let Obtained { account, before } = tokio::select! {
            biased;
            reason = self.called_off() => return Err(Discarded::CalledOff(reason)),
            obtained = self.obtain(child, method) => obtained?,
        };
        self.show(|view| view.enter(LoginState::Installing, None));
        // A key may have been rotated a moment ago, and the server not have noticed yet.
        let holds =
            self.grant.holds_on_disk().await.map_err(|error| Discarded::unchecked(&error))?;
        // From here to the installed login there is no await, and the server has one thread: nothing can
        // come in between.
        if !holds {
            return Err(Discarded::CalledOff(Reason::KeyEnded));
        }
        if let Order::CallOff(reason) = *self.orders.borrow() {
            return Err(Discarded::CalledOff(reason));
        }
        let change = self.account.own_change();
        child.install(&before).map_err(|error| Discarded::Failed(error.to_string()))?;
        let Self { key, method, .. } = self;
        tracing::info!(account = account.name(), key, method, "signed in");
        Ok(change)
    }

    /// Signs in within the child's own home, and has the owner confirm another account.
    async fn obtain(
        &self,
        child: &SeparateLogin,
        method: SignInMethod,
    ) -> Result<Obtained, Discarded> {
        let client = child.client();
        match method {
            SignInMethod::ApiKey(key) => client.login_with_api_key(&key).await?,
            SignInMethod::ChatGpt(method) => {
                let mut login = client.login(method).await?;
                check_page(login.prompt())?;
                self.show(|view| view.wait_for(login.prompt()));
                self.answer(Ok(()));
                login.finished().await?;
            }
        }
        let account = client.account().await?;
        let account =
            account.ok_or_else(|| Discarded::failed("Codex does not name the account"))?;
        let before = child.in_place();
        if !before.is_missing() && !child.is_same_account(&before) {
            let replaced = before.account().map_or("an unknown account", Account::name);
            self.show(|view| view.ask_whether(account.name(), replaced));
            self.answer(Ok(()));
            let mut orders = self.orders.clone();
            let confirmed = orders.wait_for(|order| *order == Order::Confirm);
            let in_time = tokio::time::timeout(CONFIRMED_WITHIN, confirmed).await;
            let confirmed = in_time.map_err(|_| Discarded::CalledOff(Reason::NotConfirmed))?;
            // Only a later attempt closes the orders of this one.
            confirmed.map_err(|_| Discarded::CalledOff(Reason::Replaced))?;
        }
        Ok(Obtained { account, before })
    }

    /// Has new children use the login that is in place now; those before finish their turns.
    /// Why they do not, if they do not yet: the login stays in place, and the pool keeps trying.
    async fn take_up(&self, child: SeparateLogin, change: OwnChange) -> Option<String> {
        let (renewed, ()) = tokio::join!(self.pool.renew(), child.finish());
        change.made(self.pool.login_in_place().fingerprint());
        // The account is known when success is shown.
        self.account.look_anew().await;
        let error = renewed.err()?;
        tracing::warn!(%error, "the new login is in place, but no Codex has taken it up yet");
        Some(format!("The new login is in place, but Codex did not start with it yet: {error}."))
    }

    /// Returns once it must not succeed any more. Cancel safe.
    async fn called_off(&self) -> Reason {
        let mut orders = self.orders.clone();
        tokio::select! {
            biased;
            () = self.grant.ended() => Reason::KeyEnded,
            Ok(order) = orders.wait_for(|order| matches!(order, Order::CallOff(_))) => match *order {
                Order::CallOff(reason) => reason,
                Order::Proceed | Order::Confirm => Reason::Cancelled,
            },
            () = self.stopping.cancelled() => Reason::Stopping,
        }
    }

    fn end(&self, ended: Result<Option<String>, Discarded>) {
        let Self { key, method, .. } = self;
        match ended {
            Ok(message) => self.show(|view| view.enter(LoginState::Succeeded, message)),
            Err(Discarded::CalledOff(reason)) => {
                let why = reason.in_words();
                tracing::info!(
                    why = why.unwrap_or("cancelled"),
                    key,
                    method,
                    "a sign-in was discarded"
                );
                let message = why.map(ToOwned::to_owned);
                self.show(|view| view.enter(LoginState::Cancelled, message));
            }
            Err(Discarded::Failed(why)) => {
                tracing::info!(why, key, method, "a sign-in was discarded");
                self.show(|view| view.enter(LoginState::Failed, Some(why.clone())));
                self.answer(Err(why));
            }
        }
        self.answer(Ok(()));
    }

    /// Answers the request that began it, once.
    fn answer(&self, begun: Result<(), String>) {
        let caller = self.begun.lock().take();
        if let Some(caller) = caller {
            // It may have left.
            let _ = caller.send(begun);
        }
    }

    /// Changes what is shown, unless that is of a later attempt.
    fn show(&self, change: impl FnOnce(&mut LoginView)) {
        self.shown.send_modify(|view| {
            if let Some(view) = view.as_mut().filter(|view| view.number == self.number) {
                change(view);
            }
        });
    }
}

/// The page is put into a link; only a web page may be there, whatever the issuer names.
fn check_page(prompt: &LoginPrompt) -> Result<(), Discarded> {
    let (LoginPrompt::Browser { url } | LoginPrompt::DeviceCode { url, .. }) = prompt;
    if ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Ok(());
    }
    Err(Discarded::failed("the issuer named no web page to sign in at"))
}

// === impl Reason ===

impl Reason {
    /// `None` where the state is all there is to say.
    fn in_words(self) -> Option<&'static str> {
        Some(match self {
            Self::Cancelled => return None,
            Self::Replaced => "another sign-in was begun",
            Self::ReplacedElsewhere => "another sign-in was begun on this machine",
            Self::SignedOut => "the owner signed out",
            Self::KeyEnded => "the key or session that began it has ended",
            Self::NotConfirmed => "the account was not confirmed within 10 minutes",
            Self::Stopping => "the server is stopping",
        })
    }
}

// === impl Discarded ===

impl Discarded {
    fn failed(why: &str) -> Self {
        Self::Failed(why.to_owned())
    }

    /// The keys on disk are not known: then nothing is installed.
    fn unchecked(error: &str) -> Self {
        Self::Failed(format!(
            "the keys could not be read again to check the one that began it: {error}"
        ))
    }
}

impl From<RequestError> for Discarded {
    fn from(error: RequestError) -> Self {
        Self::Failed(error.in_plain_words())
    }
}

impl From<LoginError> for Discarded {
    fn from(error: LoginError) -> Self {
        match error {
            LoginError::Cancelled => Self::CalledOff(Reason::ReplacedElsewhere),
            LoginError::Failed(_) | LoginError::ChildGone => Self::Failed(error.to_string()),
        }
    }
}
