//! The state of everything, at a moment.

use codex_app_server::{Pool, account::Account};
use serde_json::{Value, json};

use crate::account_limits::AccountStanding;
use crate::api::OwnerApi;
use crate::health::{self, Readiness, merge};
use crate::usage_report::shown_account;

/// What is told. Nothing is asked for it: it is what is known.
pub(super) fn now(api: &OwnerApi) -> Value {
    let now = ambient::now();
    let backend = api.backend.get();
    let pool = backend.map(|backend| &backend.pool);
    let workers = pool.map(|pool| pool.states().borrow().clone()).unwrap_or_default();
    let readiness = Readiness { workers };
    let unready = readiness.unready(now);
    let kept = pool.map(Pool::kept_threads).unwrap_or_default();
    let account = backend.map(|backend| backend.account.standing()).unwrap_or_default();
    json!({
        "object": "proxy.status",
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": ambient::wall_time().duration_since(api.started).unwrap_or_default().as_secs(),
        "ready": unready.is_none(),
        "reason": unready.map(health::Unready::code),
        "workers": readiness.workers.iter().map(|worker| health::report_on(worker, now)).collect::<Vec<_>>(),
        "restarts": pool.map(Pool::stats).unwrap_or_default().restarts,
        "kept_threads": {"idle": kept.idle, "held": kept.held},
        "turns": api.queue.state(),
        "upstream": backend.and_then(|backend| backend.models.upstream_address()),
        "account": with_name(shown_account(&account), &account),
        "login": api.sign_in.view(),
    })
}

/// The same with who it is, for the owner.
fn with_name(mut shown: Value, standing: &AccountStanding) -> Value {
    let (kind, email, workspace) = match standing.account() {
        Some(Account::ChatGpt { email, workspace, .. }) => {
            (Some("chatgpt"), email.as_deref(), workspace.as_deref())
        }
        Some(Account::ApiKey) => (Some("api_key"), None, None),
        Some(Account::Other(_)) => (Some("other"), None, None),
        None => (None, None, None),
    };
    merge(&mut shown, json!({"type": kind, "email": email, "workspace": workspace}));
    shown
}
