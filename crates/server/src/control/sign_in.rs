//! Signing in to Codex on behalf of the owner at a browser.
//!
//! Each sign-in runs in a child with a home of its own, and belongs to the key that began it: it
//! ends with that key, and changes nothing before its login is installed.

mod attempt;
mod view;

use std::sync::Arc;
use std::time::Duration;

use codex_app_server::account::LoginMethod;
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::api::Backend;
use crate::gate::Caller;
use crate::gate::admission::OwnerGrant;
use attempt::{Attempt, Order, Reason};
pub(crate) use view::LoginView;

/// How long a sign-in may take to end: it stops a child, or takes up a login that is in place.
const ENDED_WITHIN: Duration = Duration::from_secs(30);

/// The sign-in that is under way, or was the last one.
#[derive(Debug, Default)]
pub(crate) struct SignIn {
    shown: Arc<watch::Sender<Option<LoginView>>>,
    current: Mutex<Current>,
    /// Held while an attempt begins, and while the owner signs out: none begins in between.
    gate: tokio::sync::Mutex<()>,
    tasks: TaskTracker,
}

/// The last attempt that began.
#[derive(Debug, Default)]
struct Current {
    number: u64,
    orders: watch::Sender<Order>,
}

/// Who begins a sign-in.
pub(super) struct Owner {
    pub(super) caller: Caller,
    pub(super) grant: OwnerGrant,
}

/// Methods to sign in.
pub(super) enum SignInMethod {
    ChatGpt(LoginMethod),
    /// With a key that pays by use.
    ApiKey(String),
}

// === impl SignIn ===

impl SignIn {
    /// What became of the last one.
    pub(crate) fn view(&self) -> Option<LoginView> {
        self.shown.borrow().clone()
    }

    /// Begins to sign in; another sign-in that is under way is called off. Returns when the owner
    /// has to do something, or it has ended.
    ///
    /// # Errors
    /// Why it failed before there was anything to do.
    pub(super) async fn start(
        &self,
        owner: Owner,
        method: SignInMethod,
        backend: &Backend,
        stopping: &CancellationToken,
    ) -> Result<Option<LoginView>, String> {
        let gate = self.gate.lock().await;
        self.call_off(Reason::Replaced).await;
        let (begun, beginning) = oneshot::channel();
        let attempt = self.begin(owner, method.name(), begun, backend, stopping);
        drop(gate);
        // In a task of its own, so that it ends in order although its caller may have left.
        self.tasks.spawn(attempt.run(method));
        match beginning.await {
            Ok(Err(reason)) => Err(reason),
            Ok(Ok(())) | Err(_) => Ok(self.view()),
        }
    }

    /// Installs the login of this attempt, and returns what became of that; `None` if it does not wait
    /// for a confirmation.
    pub(super) async fn confirm(&self, number: u64) -> Option<LoginView> {
        {
            let current = self.current.lock();
            let is_asked = self.shown.borrow().as_ref().is_some_and(|view| view.waits_for(number));
            let confirmed = current.orders.send_if_modified(|order| {
                let is_open = is_asked && *order == Order::Proceed;
                if is_open {
                    *order = Order::Confirm;
                }
                is_open
            });
            if !confirmed {
                return None;
            }
        }
        self.ended(number).await;
        self.view()
    }

    /// Calls off the sign-in that is under way, if one is.
    pub(super) async fn cancel(&self) -> Option<LoginView> {
        self.call_off(Reason::Cancelled).await;
        self.view()
    }

    /// The same for an owner who signs out, to whom its outcome is of no interest. Another attempt
    /// begins when the guard is dropped.
    pub(super) async fn forget(&self) -> tokio::sync::MutexGuard<'_, ()> {
        let gate = self.gate.lock().await;
        self.call_off(Reason::SignedOut).await;
        self.shown.send_replace(None);
        gate
    }

    /// Waits until the attempt that is under way has ended, if there is one.
    pub(crate) async fn last_ended(&self) {
        let number = self.current.lock().number;
        self.ended(number).await;
    }

    /// Waits until this attempt has ended; a later one is not waited for.
    async fn ended(&self, number: u64) {
        let mut shown = self.shown.subscribe();
        let is_open = |view: &LoginView| view.number <= number && view.is_open();
        let is_over = |view: &Option<LoginView>| !view.as_ref().is_some_and(is_open);
        let _ = tokio::time::timeout(ENDED_WITHIN, shown.wait_for(is_over)).await;
    }

    async fn call_off(&self, reason: Reason) {
        let number = {
            let current = self.current.lock();
            current.call_off(reason);
            current.number
        };
        self.ended(number).await;
    }

    fn begin(
        &self,
        Owner { caller, grant }: Owner,
        method: &'static str,
        begun: oneshot::Sender<Result<(), String>>,
        backend: &Backend,
        stopping: &CancellationToken,
    ) -> Attempt {
        let mut current = self.current.lock();
        let number = current.number + 1;
        *current = Current { number, orders: watch::Sender::default() };
        self.shown.send_replace(Some(LoginView::begun(number, method)));
        Attempt {
            number,
            method,
            key: caller.name().to_owned(),
            grant,
            orders: current.orders.subscribe(),
            shown: Arc::clone(&self.shown),
            begun: Mutex::new(Some(begun)),
            pool: backend.pool.clone(),
            account: backend.account.clone(),
            stopping: stopping.clone(),
        }
    }
}

// === impl Current ===

impl Current {
    /// The first reason counts.
    fn call_off(&self, reason: Reason) {
        self.orders.send_if_modified(|order| {
            let is_open = !matches!(order, Order::CallOff(_));
            if is_open {
                *order = Order::CallOff(reason);
            }
            is_open
        });
    }
}

// === impl SignInMethod ===

impl SignInMethod {
    fn name(&self) -> &'static str {
        match self {
            Self::ChatGpt(LoginMethod::Browser) => "browser",
            Self::ChatGpt(LoginMethod::DeviceCode) => "device_code",
            Self::ApiKey(_) => "api_key",
        }
    }
}
