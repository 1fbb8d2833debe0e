//! What `serve` tells a person once it is ready.

use std::fmt::{self, Display};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use codex_app_server::{BrokenPromise, CodexBinary, Pool};
use configuration::{ApiKey, KeyOrigin};
use model_turn::Upstream;
use secrecy::ExposeSecret as _;
use server::{Access, Readiness};
use tokio::sync::watch;

use crate::account::{Standing, describe};
use crate::cli;
use crate::console;
use crate::service_manager::ServiceManager;

/// How long we wait for Codex to tell who is signed in: it may have to ask a slow network.
const LOOKED_UP_WITHIN: Duration = Duration::from_secs(1);

/// After so long somebody who waits is told what for.
const PATIENCE: Duration = Duration::from_secs(1);

const TITLE: Style = Style::new().bold();
const LABEL: Style = Style::new().dimmed();
const LINK: Style = AnsiColor::Cyan.on_default().underline();

/// A request that shows a streamed tool call.
const EXAMPLE: &str = concat!(
    r#"{"model": "demo", "stream": true, "#,
    r#""messages": [{"role": "user", "content": "What is the weather in Paris?"}], "#,
    r#""tools": [{"type": "function", "function": {"name": "get_weather", "#,
    r#""parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]}"#,
);

/// What there is to tell.
pub(crate) struct Greeting {
    /// Where this machine can ask us.
    pub(crate) address: SocketAddr,
    pub(crate) key: ApiKey,
    pub(crate) access: Access,
    /// Where requests go instead of wherever the login leads.
    pub(crate) upstream: Option<Upstream>,
    pub(crate) service_manager: Arc<ServiceManager>,
}

/// Who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// A person, in front of a terminal.
    Terminal,
    /// Anybody, now or later: a journal, for instance.
    Anybody,
}

/// What is known of the login so soon.
enum Login {
    /// An upstream of one's own needs none.
    NotNeeded(Upstream),
    Known(Standing),
    /// There is one; whose, Codex has not told in time.
    NotToldYet,
}

/// The whole block.
struct Block<'a> {
    greeting: &'a Greeting,
    codex: String,
    /// Why it is not used with real models.
    broken: Option<BrokenPromise>,
    login: Login,
    reader: Reader,
}

// === impl Greeting ===

impl Greeting {
    /// Waits until Codex is ready or has failed its canary, then notifies the service manager and prints the block.
    pub(crate) async fn tell(
        &self,
        mut readiness: watch::Receiver<Readiness>,
        pool: &Pool,
        binary: &CodexBinary,
    ) {
        let mut settled = pin!(readiness.wait_for(Readiness::is_settled));
        let now = if let Ok(now) = tokio::time::timeout(PATIENCE, &mut settled).await {
            now
        } else {
            if console::stderr().is_terminal() {
                let _ = writeln!(console::stderr(), "Starting Codex …");
            }
            settled.await
        };
        let broken = now.ok().and_then(|now| now.broken_promise().cloned());
        self.service_manager.ready();
        let block = Block {
            greeting: self,
            codex: format!("{} ({})", binary.version(), binary.path().display()),
            broken,
            login: Login::look_up(self.upstream.as_ref(), pool).await,
            reader: Reader::of_standard_output(),
        };
        // Whether anybody reads it does not matter to the server.
        for (style, text) in block.parts() {
            let _ = console::stdout().write_styled(style, &text);
        }
    }

    /// The page. For a person at a terminal the link opens a session, by a code in the part that browsers send
    /// nowhere, and under the page's name for this run.
    fn page(&self, reader: Reader) -> String {
        let plain = format!("http://{}/", self.address);
        let code = match reader {
            Reader::Terminal => self.access.issue_code(),
            // No code is made that is not printed.
            Reader::Anybody => None,
        };
        let Some(code) = code else { return plain };
        page_link(&self.access.page().unwrap_or(plain), &code)
    }

    /// The key as a command line can use it, and where it is found. A key is shown once: when it is made.
    fn describe_key(&self) -> (String, String) {
        match &self.key.origin {
            KeyOrigin::Given => ("$PROXY_API_KEY".to_owned(), "as set in PROXY_API_KEY".to_owned()),
            KeyOrigin::Kept(file) => {
                (format!("$(cat '{}')", file.display()), format!("in {}", file.display()))
            }
            KeyOrigin::Generated(file) => {
                let secret = self.key.secret.expose_secret();
                let told = format!("{secret}\n            (new; kept in {})", file.display());
                (format!("$(cat '{}')", file.display()), told)
            }
        }
    }
}

/// A link that opens a session of the page.
pub(crate) fn page_link(page: &str, code: &str) -> String {
    format!("{page}#code={code}")
}

// === impl Reader ===

impl Reader {
    fn of_standard_output() -> Self {
        if console::stdout().is_terminal() { Self::Terminal } else { Self::Anybody }
    }
}

// === impl Login ===

impl Login {
    async fn look_up(upstream: Option<&Upstream>, pool: &Pool) -> Self {
        if let Some(upstream) = upstream {
            return Self::NotNeeded(upstream.clone());
        }
        // A child that is lost already will be back, and cannot tell now.
        let Some(client) = pool.client() else { return Self::NotToldYet };
        match tokio::time::timeout(LOOKED_UP_WITHIN, Standing::of(&client, false)).await {
            Ok(Ok(standing)) => Self::Known(standing),
            Ok(Err(error)) => Self::Known(Standing::NotLookedUp(error.in_plain_words())),
            Err(_) if client.is_signed_in() => Self::NotToldYet,
            Err(_) => Self::Known(Standing::Nobody),
        }
    }

    /// What to do now.
    fn next_step(&self) -> String {
        match self {
            Self::Known(Standing::Nobody) => {
                format!("open the page and sign in there, or with `{} login`", cli::program())
            }
            Self::Known(Standing::NotLookedUp(_)) => {
                format!("`{} doctor` looks for what is wrong", cli::program())
            }
            Self::NotNeeded(_) | Self::Known(Standing::SignedIn(_)) | Self::NotToldYet => {
                "connect a client; the page has the settings of each".to_owned()
            }
        }
    }
}

impl Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNeeded(upstream) => {
                write!(f, "not needed: requests go to {}", upstream.base_url)
            }
            Self::Known(Standing::Nobody) => {
                f.write_str("nobody is signed in: only the model demo works")
            }
            Self::Known(Standing::SignedIn(account)) => {
                write!(f, "signed in {}", describe(account))
            }
            Self::Known(Standing::NotLookedUp(reason)) => {
                write!(f, "signed in, but the account cannot be looked up: {reason}")
            }
            Self::NotToldYet => f.write_str("signed in; the account is still being looked up"),
        }
    }
}

// === impl Block ===

impl Block<'_> {
    fn parts(&self) -> Vec<(Style, String)> {
        let Self { greeting, codex, broken, login, reader } = self;
        let address = greeting.address;
        let (key, key_location) = greeting.describe_key();
        let page = greeting.page(*reader);
        let version = env!("CARGO_PKG_VERSION");
        let example = format!(
            "A tool call of the model demo, which needs no account:\n\n  \
               curl -N http://{address}/v1/chat/completions \\\n    \
                 -H \"Authorization: Bearer {key}\" -H \"Content-Type: application/json\" \\\n    \
                 -d '{EXAMPLE}'\n\n"
        );
        let (state, next, broken) = match broken {
            None => ("is ready", login.next_step(), String::new()),
            Some(broken) => (
                "runs, with the model demo alone",
                format!("`{} doctor` shows what to do", cli::program()),
                format!("            breaks the promise {}: {broken}\n", broken.promise.as_str()),
            ),
        };
        let label = |name: &str| (LABEL, name.to_owned());
        let plain = |text: String| (Style::new(), text);
        vec![
            (TITLE, format!("codex-completions {version} {state}")),
            plain("\n\n  ".to_owned()),
            label("page"),
            plain("      ".to_owned()),
            (LINK, page),
            plain("\n  ".to_owned()),
            label("base URL"),
            plain(format!("  http://{address}/v1\n  ")),
            label("API key"),
            plain(format!("   {key_location}\n  ")),
            label("login"),
            plain(format!("     {login}\n  ")),
            label("codex"),
            plain(format!("     {codex}\n{broken}\n")),
            (TITLE, "Next:".to_owned()),
            plain(format!(" {next}.\n\n{example}")),
        ]
    }
}

#[cfg(test)]
mod tests;
