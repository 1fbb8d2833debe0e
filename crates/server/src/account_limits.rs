//! What is left of the account's allowance, as Codex last told it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use codex_app_server::account::{Account, AccountEvent, AccountEvents, LimitWindow, RateLimits};
use codex_app_server::{Client, Pool, RequestError};
use futures_util::future::select_all;
use tokio::sync::{Notify, watch};

use crate::answering::seconds_since_1970;

/// For so long what was told is good enough: each look at the allowance is a request to the service.
const FRESH_FOR: Duration = Duration::from_mins(2);

/// How long somebody waits for a new look.
const REFRESHED_WITHIN: Duration = Duration::from_secs(2);

/// The account and its allowance. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct AccountLimits(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    view: watch::Sender<View>,
    /// Somebody wants to know.
    wanted: Notify,
}

#[derive(Debug, Clone, Default)]
struct View {
    standing: AccountStanding,
    /// When Codex was last asked, with or without an answer.
    looked_at: Option<Instant>,
    /// How often a new look was asked for, whatever is known.
    asked_anew: u64,
    /// Whose login it was when the log last named it; `None` before the first look.
    logged: Option<Holder>,
    /// Changes that are logged by those who make them: how many are under way, and were made.
    own_changes: (u32, u64),
}

/// Whose login is in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    SignedOut,
    /// An account, by its fingerprint.
    Account(u128),
}

/// A change of the account that its maker logs, until this is dropped.
pub(crate) struct OwnChange(AccountLimits);

/// What is known of the account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum AccountStanding {
    /// Codex has not been asked yet.
    #[default]
    NotAsked,
    /// There is no login.
    SignedOut,
    /// The login has no allowance: an API key is paid by use.
    WithoutAllowance,
    /// A ChatGPT account.
    WithAllowance(Box<Allowance>),
    /// There is a login, but Codex could not report more.
    Unknown {
        /// The account, if known.
        account: Option<Account>,
        /// Why there is no more.
        reason: String,
    },
}

/// The allowance of a ChatGPT account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// The account.
    pub(crate) account: Account,
    /// How much of it is used.
    pub(crate) limits: RateLimits,
    /// When Codex reported it, in seconds since 1970.
    pub(crate) as_of: u64,
}

// === impl AccountLimits ===

impl AccountLimits {
    /// How much of the allowance is used. Cheap: if that is long known, a newer answer is there the
    /// next time.
    pub(crate) fn now(&self) -> Option<RateLimits> {
        self.0.wanted.notify_one();
        self.0.view.borrow().standing.allowance().map(|known| known.limits.clone())
    }

    /// Everything that is known. Cheap: if it was told long ago, a newer answer is there the next time.
    pub(crate) fn standing(&self) -> AccountStanding {
        self.0.wanted.notify_one();
        self.0.view.borrow().standing.clone()
    }

    /// The same, after a new look if the last one was long ago and Codex answers soon.
    pub(crate) async fn refreshed(&self) -> AccountStanding {
        let mut view = self.0.view.subscribe();
        self.0.wanted.notify_one();
        let is_fresh = |view: &View| !view.is_old();
        let _ = tokio::time::timeout(REFRESHED_WITHIN, view.wait_for(is_fresh)).await;
        view.borrow().standing.clone()
    }

    /// The same for somebody who was just told that nothing is left: what says otherwise is too old.
    pub(crate) async fn used_up(&self) -> Option<RateLimits> {
        let is_known = self.0.view.borrow().standing.is_used_up();
        let standing = if is_known { self.refreshed().await } else { self.look_anew().await };
        standing.allowance().map(|known| known.limits.clone())
    }

    /// The same after a new look, where what was known is of no use any more.
    pub(crate) async fn look_anew(&self) -> AccountStanding {
        self.0.view.send_modify(|view| {
            view.looked_at = None;
            view.asked_anew += 1;
        });
        self.refreshed().await
    }

    /// The caller is about to change the account, and logs that.
    pub(crate) fn own_change(&self) -> OwnChange {
        self.0.view.send_modify(|view| view.own_changes.0 += 1);
        OwnChange(self.clone())
    }

    /// Keeps up with the account, over all children and their restarts.
    ///
    /// Updates that Codex sends with turns only tell that something was used: it takes the figures
    /// from the headers of whichever upstream has answered, which may be another one than the login's.
    pub async fn follow(self, pool: Pool) -> Infallible {
        let mut states = pool.states();
        let children = || pool.clients().iter().map(Client::process_id).collect::<Vec<_>>();
        loop {
            states.mark_unchanged();
            let present = children();
            let mut events: Vec<_> = pool.clients().iter().map(Client::account_events).collect();
            self.look(&pool).await;
            loop {
                tokio::select! {
                    biased;
                    _ = states.changed() => if children() != present { break },
                    event = next_event(&mut events) => match event {
                        AccountEvent::Changed { .. } | AccountEvent::Missed(_) => {
                            self.look(&pool).await;
                        }
                        AccountEvent::RateLimits(_) => self.look_if_old(&pool).await,
                        AccountEvent::LoginEnded { .. }
                        | AccountEvent::RecoveryStarted(_)
                        | AccountEvent::RecoveryEnded(_) => {}
                    },
                    () = self.0.wanted.notified() => self.look_if_old(&pool).await,
                }
            }
        }
    }

    async fn look_if_old(&self, pool: &Pool) {
        let is_old = self.0.view.borrow().is_old();
        if is_old {
            self.look(pool).await;
        }
    }

    async fn look(&self, pool: &Pool) {
        // Without a child nobody can tell; there will be one.
        let Some(client) = pool.client() else { return };
        let known = self.0.view.borrow().clone();
        let (looked_at, asked_anew) = (Some(ambient::now()), known.asked_anew);
        let own_changes = known.own_changes;
        let standing = known.renewed(&client).await;
        // A child with an older login says nothing about the one in place.
        let holder =
            standing.holder(client.account_fingerprint()).filter(|_| client.has_login_in_place());
        let mut is_news = false;
        self.0.view.send_modify(|view| {
            // A child that was asked while the account was being changed here may be out of date.
            if let Some(holder) =
                holder.filter(|_| own_changes.0 == 0 && view.own_changes == own_changes)
            {
                is_news = view.logged.is_some_and(|logged| logged != holder);
                view.logged = Some(holder);
            }
            // An answer from before a new look was asked for does not count as that.
            let is_new = view.asked_anew == asked_anew;
            (view.standing, view.looked_at) = (standing, looked_at.filter(|_| is_new));
        });
        if is_news {
            let view = self.0.view.borrow();
            let account = view.standing.account().map_or("none", Account::name);
            tracing::info!(account, "the account has changed, not through this server");
        }
    }
}

/// The next event of any child.
async fn next_event(events: &mut Vec<AccountEvents>) -> AccountEvent {
    while !events.is_empty() {
        let next = events.iter_mut().map(|events| Box::pin(events.next()));
        let (event, index, _) = select_all(next).await;
        match event {
            Some(event) => return event,
            None => drop(events.swap_remove(index)),
        }
    }
    std::future::pending().await
}

// === impl OwnChange ===

impl OwnChange {
    /// It was made; the login has this fingerprint now, or there is none.
    pub(crate) fn made(self, fingerprint: Option<u128>) {
        let holder = fingerprint.map_or(Holder::SignedOut, Holder::Account);
        self.0.0.view.send_modify(|view| view.logged = Some(holder));
    }
}

impl Drop for OwnChange {
    fn drop(&mut self) {
        self.0.0.view.send_modify(|view| {
            let (under_way, made) = view.own_changes;
            view.own_changes = (under_way - 1, made + 1);
        });
    }
}

// === impl AccountStanding ===

impl AccountStanding {
    /// The account, if known.
    pub(crate) fn account(&self) -> Option<&Account> {
        match self {
            Self::WithAllowance(known) => Some(&known.account),
            Self::Unknown { account, .. } => account.as_ref(),
            Self::WithoutAllowance => Some(&Account::ApiKey),
            Self::NotAsked | Self::SignedOut => None,
        }
    }

    /// Whose login a child with this fingerprint has, as far as that is known.
    fn holder(&self, fingerprint: Option<u128>) -> Option<Holder> {
        match (self, self.account(), fingerprint) {
            (Self::SignedOut, ..) => Some(Holder::SignedOut),
            (_, Some(_), Some(fingerprint)) => Some(Holder::Account(fingerprint)),
            _ => None,
        }
    }

    fn allowance(&self) -> Option<&Allowance> {
        match self {
            Self::WithAllowance(known) => Some(known),
            Self::NotAsked | Self::SignedOut | Self::WithoutAllowance | Self::Unknown { .. } => {
                None
            }
        }
    }

    fn is_used_up(&self) -> bool {
        let Some(Allowance { limits, .. }) = self.allowance() else { return false };
        let RateLimits { primary, secondary, .. } = limits;
        [primary, secondary].into_iter().flatten().any(LimitWindow::is_used_up)
    }

    fn unknown(account: Option<Account>, error: &RequestError) -> Self {
        Self::Unknown { account, reason: error.in_plain_words() }
    }
}

// === impl View ===

impl View {
    fn is_old(&self) -> bool {
        self.looked_at.is_none_or(|at| ambient::since(at) > FRESH_FOR)
    }

    /// What Codex says now. The service is asked only if that could be another answer than before.
    async fn renewed(self, client: &Client) -> AccountStanding {
        let is_old = self.is_old();
        let account = match client.account().await {
            Ok(Some(account @ Account::ChatGpt { .. })) => account,
            Ok(Some(Account::ApiKey | Account::Other(_))) => {
                return AccountStanding::WithoutAllowance;
            }
            Ok(None) => return AccountStanding::SignedOut,
            Err(error) => return AccountStanding::unknown(None, &error),
        };
        let known = match self.standing {
            AccountStanding::WithAllowance(known) if known.account == account => Some(known),
            _ => None,
        };
        if let (Some(known), false) = (&known, is_old) {
            return AccountStanding::WithAllowance(known.clone());
        }
        match (client.rate_limits().await, known) {
            (Ok(limits), _) => {
                let allowance = Allowance { account, limits, as_of: seconds_since_1970() };
                AccountStanding::WithAllowance(Box::new(allowance))
            }
            // Better an old answer, which has its time beside it, than none.
            (Err(_), Some(known)) => AccountStanding::WithAllowance(known),
            (Err(error), None) => AccountStanding::unknown(Some(account), &error),
        }
    }
}
