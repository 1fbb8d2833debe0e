//! The state of everything, at a moment.

use std::time::Instant;

use codex_app_server::{Pool, account::Account};
use serde_json::{Value, json};

use crate::account_limits::AccountStanding;
use crate::api::Api;
use crate::health::{self, Readiness};
use crate::usage_report::shown_account;

/// What is told. Nothing is asked for it: it is what is known.
pub(super) fn now(api: &Api) -> Value {
    let now = Instant::now();
    let backend = api.0.backend.get();
    let pool = backend.map(|backend| &backend.pool);
    let workers = pool.map(|pool| pool.states().borrow().clone()).unwrap_or_default();
    let readiness = Readiness { workers };
    let unready = readiness.unready(now);
    let kept = pool.map(Pool::kept_threads).unwrap_or_default();
    let account = backend.map(|backend| backend.account.standing()).unwrap_or_default();
    json!({
        "object": "proxy.status",
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": api.0.started.elapsed().unwrap_or_default().as_secs(),
        "ready": unready.is_none(),
        "reason": unready.map(health::Unready::code),
        "workers": readiness.workers.iter().map(|worker| health::report_on(worker, now)).collect::<Vec<_>>(),
        "restarts": pool.map(Pool::stats).unwrap_or_default().restarts,
        "kept_threads": {"idle": kept.idle, "held": kept.held},
        "turns": api.0.queue.state(),
        "upstream": backend.and_then(|backend| backend.models.upstream_address()),
        "account": with_name(shown_account(&account), &account),
        "login": api.0.sign_in.view(),
    })
}

fn named(account: &Account) -> (Option<&'static str>, Option<&str>, Option<&str>) {
    match account {
        Account::ChatGpt { email, workspace, .. } => {
            (Some("chatgpt"), email.as_deref(), workspace.as_deref())
        }
        Account::ApiKey => (Some("api_key"), None, None),
        Account::Other(_) => (Some("other"), None, None),
    }
}

/// The same with who it is, for the owner.
fn with_name(mut shown: Value, standing: &AccountStanding) -> Value {
    let (kind, email, workspace) = match standing {
        AccountStanding::WithAllowance(known) => named(&known.account),
        AccountStanding::NotTold { account: Some(account), .. } => named(account),
        AccountStanding::WithoutAllowance => (Some("api_key"), None, None),
        AccountStanding::NotAsked
        | AccountStanding::SignedOut
        | AccountStanding::NotTold { account: None, .. } => (None, None, None),
    };
    if let Value::Object(shown) = &mut shown {
        shown.insert("type".to_owned(), json!(kind));
        shown.insert("email".to_owned(), json!(email));
        shown.insert("workspace".to_owned(), json!(workspace));
    }
    shown
}
