//! `status`: who is signed in, what is left of the allowance, and whether a server runs.

use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use codex_app_server::RequestError;
use codex_app_server::account::{Account, LimitWindow, RateLimits};
use configuration::Settings;
use serde_json::{Value, json};

use crate::account::{Standing, plain};
use crate::cli::{self, ServerOptions, StatusOptions};
use crate::codex;
use crate::console;
use crate::progress;
use crate::target::{Running, Target, link_to_page};

/// The server that the settings describe, if it runs.
struct RunningServer {
    target: Target,
    running: Running,
    /// Opens the page; only for a person at a terminal.
    link: Option<String>,
}

pub(crate) async fn run(
    options: &StatusOptions,
    settings: &Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let client = codex::start_client(settings).await?;
    let looking = async {
        let standing = Standing::of(&client, options.refresh).await;
        let limits = match &standing {
            Ok(Standing::SignedIn(Account::ChatGpt { .. })) => Some(client.rate_limits().await),
            _ => None,
        };
        (standing, limits)
    };
    let (standing, limits) = progress::during("Looking up the account", looking).await;
    client.shutdown().await;
    let standing = standing.map_err(|error| plain(&error))?;
    let with_link = !options.json && console::stdout().is_terminal();
    let server = RunningServer::of(settings, with_link).await;
    if options.json {
        let mut status = to_json(&standing, limits.as_ref());
        status["server"] = server.as_ref().map_or(Value::Null, RunningServer::to_json);
        writeln!(console::stdout(), "{status:#}")?;
    } else {
        writeln!(console::stdout(), "{}", standing.in_words())?;
        if let Some(limits) = limits {
            print_limits(limits)?;
        }
        if let Some(server) = server {
            writeln!(console::stdout(), "{}", server.in_words())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

// === impl RunningServer ===

impl RunningServer {
    /// `None` where the system chooses the port.
    async fn of(settings: &Settings, with_link: bool) -> Option<Self> {
        let target = Target::choose(&ServerOptions::default(), settings);
        let target = target.or_else(|_| Target::of(settings)).ok()?;
        let running = Running::at(&target).await;
        let is_ours = matches!(running, Running::Ours { .. });
        let link = if is_ours && with_link { link_to_page(&target).await } else { None };
        Some(Self { target, running, link })
    }

    fn in_words(&self) -> String {
        let url = &self.target.base_url;
        let page = self.link.clone().unwrap_or_else(|| url.page());
        match &self.running {
            Running::Nobody => {
                format!("No server runs at {url}; `{} serve` starts one.", cli::program())
            }
            Running::SomebodyElse => {
                format!(
                    "What answers at {url} has not proved that it is the server of this data folder."
                )
            }
            Running::Ours { unready: None } => {
                format!("The server at {url} is ready. Its page is {page}")
            }
            Running::Ours { unready: Some(reason) } => {
                format!("The server at {url} is not ready: {reason}. Its page is {page}")
            }
        }
    }

    fn to_json(&self) -> Value {
        let url = &self.target.base_url;
        let (running, unready) = match &self.running {
            Running::Nobody | Running::SomebodyElse => (false, None),
            Running::Ours { unready } => (true, unready.as_ref()),
        };
        json!({
            "base_url": url.to_string(),
            "page": url.page(),
            "running": running,
            "ready": running && unready.is_none(),
            "reason": unready,
        })
    }
}

fn print_limits(limits: Result<RateLimits, RequestError>) -> io::Result<()> {
    let out = console::stdout();
    let limits = match limits {
        Ok(limits) => limits,
        Err(error) => {
            let reason = error.in_plain_words();
            return writeln!(out, "What is left of the allowance is not known: {reason}");
        }
    };
    for window in [limits.primary, limits.secondary].into_iter().flatten() {
        writeln!(out, "{}", describe_window(&window, SystemTime::now()))?;
    }
    if let Some(credits) = limits.credits {
        writeln!(out, "Credits: {credits}.")?;
    }
    if let Some(reached) = limits.reached {
        writeln!(out, "A limit is reached: {reached}.")?;
    }
    Ok(())
}

fn describe_window(window: &LimitWindow, now: SystemTime) -> String {
    let length = window.length.map_or_else(|| "the window".to_owned(), describe_time);
    let reset = window.resets_at.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    let left = reset.and_then(|reset| reset.duration_since(now).ok());
    let reset = left.map(|left| format!(", reset in {}", describe_time(left))).unwrap_or_default();
    format!("{} % of the allowance of {length} used{reset}.", window.used_percent)
}

/// In the two largest units.
pub(crate) fn describe_time(time: Duration) -> String {
    let minutes = time.as_secs().div_ceil(60);
    let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    let parts = [(days, "d"), (hours, "h"), (minutes, "min")];
    let words: Vec<_> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .take(2)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    if words.is_empty() { "0 min".to_owned() } else { words.join(" ") }
}

fn to_json(standing: &Standing, limits: Option<&Result<RateLimits, RequestError>>) -> Value {
    let account = match standing {
        Standing::SignedIn(Account::ApiKey) => json!({"type": "api_key"}),
        Standing::SignedIn(Account::ChatGpt { email, plan, workspace }) => {
            json!({"type": "chatgpt", "email": email, "plan": plan, "workspace": workspace})
        }
        Standing::SignedIn(Account::Other(kind)) => json!({"type": kind}),
        Standing::NotLookedUp(reason) => json!({"type": null, "error": reason}),
        Standing::Nobody => Value::Null,
    };
    let window = |window: LimitWindow| {
        json!({
            "used_percent": window.used_percent,
            "window_seconds": window.length.map(|length| length.as_secs()),
            "resets_at": window.resets_at,
        })
    };
    let limits = limits.map(|limits| match limits {
        Ok(limits) => json!({
            "primary": limits.primary.map(window),
            "secondary": limits.secondary.map(window),
            "plan": limits.plan,
            "credits": limits.credits,
            "reached": limits.reached,
        }),
        Err(error) => json!({"error": error.in_plain_words()}),
    });
    json!({"signed_in": !account.is_null(), "account": account, "rate_limits": limits})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_two_units() {
        for (seconds, words) in [
            (0, "0 min"),
            (1, "1 min"),
            (18_000, "5 h"),
            (604_800, "7 d"),
            (93_780, "1 d 2 h"),
            (3_660, "1 h 1 min"),
        ] {
            assert_eq!(describe_time(Duration::from_secs(seconds)), words);
        }
    }

    #[test]
    fn a_window_says_when_it_begins_anew() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        let window = LimitWindow {
            used_percent: 12,
            length: Some(Duration::from_hours(5)),
            resets_at: Some(4_600),
        };
        assert_eq!(
            describe_window(&window, now),
            "12 % of the allowance of 5 h used, reset in 1 h."
        );
        let past = LimitWindow { resets_at: Some(10), length: None, ..window };
        assert_eq!(describe_window(&past, now), "12 % of the allowance of the window used.");
    }
}
