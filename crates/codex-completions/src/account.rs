//! `login` and `logout`: the owner's account with Codex.

use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use codex_app_server::account::{
    Account, ImportError, LoginError, LoginKind, LoginMethod, LoginPrompt, PresentLogin,
    import_login,
};
use codex_app_server::{Client, RequestError};
use configuration::Settings;

use crate::cli::{self, LoginOptions};
use crate::codex;
use crate::console;
use crate::progress;
use crate::signals::Signals;

/// How long a login that is given up may hold us.
const GIVE_UP: Duration = Duration::from_secs(2);

/// What is known of the account.
pub(crate) enum Standing {
    Nobody,
    SignedIn(Account),
    /// There is a login, but nobody can be asked about it.
    NotLookedUp(String),
}

pub(crate) async fn login(
    options: &LoginOptions,
    settings: &Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    if let Some(folder) = &options.import {
        return import(folder.as_deref(), options, settings).await;
    }
    let api_key = options.with_api_key.then(read_api_key).transpose()?;
    let client = codex::start_client(settings).await?;
    let outcome = match api_key {
        Some(key) => client.login_with_api_key(&key).await.map_err(|error| plain(&error)),
        None => login_with_chatgpt(&client, method(options)).await,
    };
    let outcome = match outcome {
        Ok(()) => greet(&client).await,
        Err(error) => Err(error),
    };
    // If Codex hangs, whoever gave the login up does not want to wait for it: it is killed.
    let _ = tokio::time::timeout(GIVE_UP, client.shutdown()).await;
    outcome.map(|()| ExitCode::SUCCESS)
}

pub(crate) async fn logout(settings: &Settings) -> Result<ExitCode, Box<dyn Error>> {
    let client = codex::start_client(settings).await?;
    let was_signed_in = client.is_signed_in();
    let outcome = client.logout().await;
    client.shutdown().await;
    outcome.map_err(|error| plain(&error))?;
    let words = if was_signed_in { "Signed out." } else { "Nobody was signed in." };
    writeln!(console::stdout(), "{words}")?;
    Ok(ExitCode::SUCCESS)
}

/// Copies a login, and says what that means.
async fn import(
    folder: Option<&Path>,
    options: &LoginOptions,
    settings: &Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let folder = folder.map(Path::to_owned).or_else(usual_codex_home).ok_or(
        "neither CODEX_HOME nor HOME is set: name the folder that has the login, --import FOLDER",
    )?;
    let present = if options.force { PresentLogin::Replace } else { PresentLogin::Keep };
    let kind = import_login(&folder, &settings.codex.home, present).map_err(|error| {
        let advice = match error {
            ImportError::Present => "; --force replaces it".to_owned(),
            ImportError::Missing { .. } => format!("; `{} login` signs you in", cli::program()),
            _ => String::new(),
        };
        format!("{error}{advice}")
    })?;
    let out = console::stdout();
    writeln!(out, "Copied the login of {}.", folder.display())?;
    if kind == LoginKind::ChatGpt {
        writeln!(out, "\n{}\n", two_copies())?;
    }
    let client = codex::start_client(settings).await?;
    let greeted = progress::during("Looking up the account", greet(&client)).await;
    let _ = tokio::time::timeout(GIVE_UP, client.shutdown()).await;
    greeted.map(|()| ExitCode::SUCCESS)
}

/// Where Codex has its login for people who have not chosen another place.
fn usual_codex_home() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("CODEX_HOME").or_else(|| set("HOME").map(|home| home.join(".codex")))
}

/// What becomes of two copies of one refresh token. The test of `--import` shows it with the real Codex.
fn two_copies() -> String {
    format!(
        "There are two copies of this login now, with the same refresh token, which the issuer takes once.\n\
         Codex uses it when its access token ends or is refused. The copy that does so first goes on; the\n\
         other goes on until its own access token ends, and must then sign in again. `logout` in one place\n\
         ends both. To be safe use only one of them, or sign in here separately: `{} login`.",
        cli::program()
    )
}

// === impl Standing ===

impl Standing {
    /// # Errors
    /// If there is no login that could be the cause, but Codex does not answer.
    pub(crate) async fn of(client: &Client, refresh: bool) -> Result<Self, RequestError> {
        let account = if refresh { client.refresh_account().await } else { client.account().await };
        match account {
            Ok(Some(account)) => Ok(Self::SignedIn(account)),
            Ok(None) => Ok(Self::Nobody),
            Err(error) if client.is_signed_in() => Ok(Self::NotLookedUp(error.in_plain_words())),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::SignedIn(account) => format!("Signed in {}.", describe(account)),
            Self::Nobody => format!(
                "Nobody is signed in: only the model demo works. `{} login` signs you in.",
                cli::program()
            ),
            Self::NotLookedUp(reason) => format!(
                "Signed in, but the account cannot be looked up: {reason}. Check the network."
            ),
        }
    }
}

/// Who is signed in, in a few words.
pub(crate) fn describe(account: &Account) -> String {
    match account {
        Account::ApiKey => "with an API key".to_owned(),
        Account::ChatGpt { email, plan, workspace } => {
            let name = email.as_deref().unwrap_or("a ChatGPT account");
            let plan = plan.as_ref().map(|plan| format!("plan {plan}"));
            let workspace = workspace.as_ref().map(|name| format!("workspace {name}"));
            let more: Vec<_> = plan.into_iter().chain(workspace).collect();
            if more.is_empty() {
                format!("as {name}")
            } else {
                format!("as {name} ({})", more.join(", "))
            }
        }
        Account::Other(kind) => format!("with {kind}"),
    }
}

/// A browser helps only where the user sits in front of this machine.
fn method(options: &LoginOptions) -> LoginMethod {
    let has_display = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let in_front = has_display && console::stdout().is_terminal();
    if options.browser || (in_front && !options.device_code) {
        LoginMethod::Browser
    } else {
        LoginMethod::DeviceCode
    }
}

/// From a pipe, so that it is on no screen, in no history and in no list of processes.
fn read_api_key() -> Result<String, Box<dyn Error>> {
    if io::stdin().is_terminal() {
        let program = cli::program();
        let advice = format!("printenv OPENAI_API_KEY | {program} login --with-api-key");
        return Err(format!("the key is read from a pipe: `{advice}`").into());
    }
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let key = line.trim();
    if key.is_empty() {
        return Err("standard input holds no API key".into());
    }
    Ok(key.to_owned())
}

async fn login_with_chatgpt(client: &Client, method: LoginMethod) -> Result<(), Box<dyn Error>> {
    let mut login = client.login(method).await.map_err(|error| refused(&error, method))?;
    let out = console::stdout();
    match login.prompt() {
        LoginPrompt::Browser { url } => {
            writeln!(
                out,
                "Open this page in a browser on this machine, and sign in:\n\n  {url}\n"
            )?;
            if out.is_terminal() && open::that_detached(url).is_ok() {
                writeln!(out, "(It should have opened by itself.)\n")?;
            }
        }
        LoginPrompt::DeviceCode { url, code } => {
            writeln!(out, "Open this page in any browser, and sign in:\n\n  {url}\n")?;
            writeln!(out, "Then enter this code, and nobody else's:\n\n  {code}\n")?;
        }
    }
    // First, so that what is promised holds as soon as it is read.
    let mut signals = Signals::new()?;
    writeln!(out, "Waiting … (Ctrl-C gives up)")?;
    tokio::select! {
        outcome = progress::during("Waiting for you to sign in", login.finished()) => return Ok(outcome?),
        () = signals.stop() => {}
    }
    let given_up = || Err("given up: nobody was signed in".into());
    let cancelled = async {
        login.cancel().await?;
        // It may have come to its end after all.
        match login.finished().await {
            Err(LoginError::Cancelled) => given_up(),
            outcome => Ok(outcome?),
        }
    };
    tokio::time::timeout(GIVE_UP, cancelled).await.unwrap_or_else(|_| given_up())
}

/// What the protocol calls it does not help anybody at a terminal.
pub(crate) fn plain(error: &RequestError) -> Box<dyn Error> {
    error.in_plain_words().into()
}

/// Codex says what failed; we say what else can be done.
fn refused(error: &RequestError, method: LoginMethod) -> Box<dyn Error> {
    let words = error.in_plain_words();
    match method {
        LoginMethod::Browser => {
            format!("{words}; --device-code needs no browser on this machine").into()
        }
        LoginMethod::DeviceCode => format!(
            "the sign-in could not be begun; look at the network, and at a proxy in between. \
             Codex says: {words}"
        )
        .into(),
    }
}

async fn greet(client: &Client) -> Result<(), Box<dyn Error>> {
    let standing = Standing::of(client, false).await.map_err(|error| plain(&error))?;
    if let Standing::Nobody = standing {
        return Err("Codex says that nobody is signed in".into());
    }
    writeln!(console::stdout(), "{}", standing.in_words())?;
    Ok(())
}
