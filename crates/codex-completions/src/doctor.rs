//! `doctor`: is everything there that a turn needs?

mod files;
mod report;

use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::time::Instant;

use codex_app_server::{
    CanaryState, CodexBinary, DEMO_MODEL, EarlyArguments, MINIMUM_VERSION, Promise,
};
use configuration::{Loaded, Settings};
use model_turn::{HistoryItem, Role, TurnEnd, TurnEvent, TurnRequest};

use crate::account::{Standing, describe};
use crate::app;
use crate::cli::{self, ServerOptions};
use crate::codex::{self, Codex};
use crate::progress;
use crate::target::{Running, Target, page_answers, takes_key};
use report::Report;

pub(crate) async fn run(loaded: Loaded) -> Result<ExitCode, Box<dyn Error>> {
    let settings = loaded.settings;
    let mut report = Report::default();
    report.good(&format!("codex-completions {}", env!("CARGO_PKG_VERSION")))?;
    for warning in &loaded.warnings {
        report.note(&warning.to_string(), None)?;
    }
    files::check(&settings, &mut report)?;
    match codex::locate(&settings).await {
        Ok(binary) => {
            let path = binary.path().display();
            report.good(&format!("codex {} at {path}", binary.version()))?;
            check_child(binary, &settings, &mut report).await?;
        }
        Err(error) => report.bad(&error.to_string(), &how_to_install())?,
    }
    check_port(&settings, &mut report).await?;
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How to get a Codex that can be used.
fn how_to_install() -> String {
    let version = MINIMUM_VERSION;
    if is_on_path("npm") {
        format!(
            "npm install -g --ignore-scripts @openai/codex@{version}, or set CODEX_BIN to a Codex \
             that is there"
        )
    } else {
        format!(
            "install Node.js (https://nodejs.org), which brings npm, then: npm install -g \
             --ignore-scripts @openai/codex@{version}; or set CODEX_BIN to a Codex that is there"
        )
    }
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

async fn check_child(
    binary: CodexBinary,
    settings: &Settings,
    report: &mut Report,
) -> io::Result<()> {
    let home = settings.codex.home.display();
    let started = Instant::now();
    let codex = match Codex::start_with(binary, settings).await {
        Ok(codex) => codex,
        Err(error) => {
            let fix = format!("make {home} writable, or choose another home with PROXY_CODEX_HOME");
            return report.bad(&error.to_string(), &fix);
        }
    };
    report.good(&format!("home {home} is writable"))?;
    report
        .good(&format!("codex app-server is ready after {} ms", started.elapsed().as_millis()))?;
    progress::during("Looking up the account", check_login(&codex, settings, report)).await?;
    let started = Instant::now();
    match progress::during("Asking demo", demo_turn(&codex)).await {
        Ok(()) => {
            report.good(&format!("demo answers after {} ms", started.elapsed().as_millis()))?;
        }
        Err(words) => {
            let fix = "PROXY_LOG=debug shows what Codex says; another version of Codex may help";
            report.bad(&format!("demo does not answer: {words}"), fix)?;
        }
    }
    check_promises(&codex, settings, report).await?;
    codex.client.shutdown().await;
    Ok(())
}

/// What a canary turn shows of this Codex.
async fn check_promises(codex: &Codex, settings: &Settings, report: &mut Report) -> io::Result<()> {
    let started = Instant::now();
    let canary = progress::during("Playing a canary turn", codex.client.play_canary()).await;
    let took = started.elapsed().as_millis();
    if let Some(broken) = canary.broken() {
        let promise = broken.promise.as_str();
        let words = format!("this Codex breaks the promise {promise}: {broken}");
        let fix = match broken.promise {
            Promise::Checked => "try again; PROXY_LOG=debug shows what Codex does".to_owned(),
            _ => format!("install a tested Codex: {}", how_to_install()),
        };
        if settings.codex.allow_untested {
            report.note(&format!("{words}; PROXY_ALLOW_UNTESTED_CODEX is set"), Some(&fix))?;
        } else {
            let words = format!("{words}; it takes no turns of real models");
            report.bad(&words, &format!("{fix}; or set PROXY_ALLOW_UNTESTED_CODEX=true"))?;
        }
    } else {
        report.good(&format!("this Codex passes its canary turn after {took} ms"))?;
    }
    if let CanaryState::Passed { git_attribution: true } = canary {
        report.note(
            "this account has Codex add a message about the attribution of commits to every prompt",
            Some("its owner can switch that off in the settings of the ChatGPT workspace; no setting of Codex does"),
        )?;
    }
    check_early_arguments(codex, report)
}

/// Whole calls are right as well, only later.
fn check_early_arguments(codex: &Codex, report: &mut Report) -> io::Result<()> {
    match codex.client.early_arguments() {
        EarlyArguments::Checking => {
            report.note("tool calls are sent whole: the canary has not passed", None)
        }
        EarlyArguments::On => {
            report.good("arguments of tool calls are streamed as the model writes them")
        }
        EarlyArguments::Off => {
            report.note("tool calls are sent whole: PROXY_STREAM_ARGUMENTS is off", None)
        }
        EarlyArguments::Lost(reason) => report.note(
            &format!("tool calls are sent whole: {reason}"),
            Some(&format!("Codex {MINIMUM_VERSION} is known to have what is needed in its log")),
        ),
    }
}

/// Nobody signed in is a state, and not a fault.
async fn check_login(codex: &Codex, settings: &Settings, report: &mut Report) -> io::Result<()> {
    let program = cli::program();
    match Standing::of(&codex.client, false).await {
        Ok(Standing::SignedIn(account)) => {
            report.good(&format!("signed in {}", describe(&account)))
        }
        Ok(Standing::NotLookedUp(reason)) => report.bad(
            &format!("signed in, but the account cannot be looked up: {reason}"),
            &format!("check the network; if it is well, sign in again: `{program} login`"),
        ),
        Ok(Standing::Nobody) if settings.codex.upstream.is_some() => {
            report.note("nobody is signed in, and PROXY_UPSTREAM_BASE_URL needs nobody", None)
        }
        Ok(Standing::Nobody) => report.note(
            "nobody is signed in: only the model demo works",
            Some(&format!("`{program} login` signs you in")),
        ),
        Err(error) => report.bad(
            &format!("the login cannot be checked: {}", error.in_plain_words()),
            &format!("sign in again: `{program} login`"),
        ),
    }
}

/// A whole turn through the child, which needs no account.
async fn demo_turn(codex: &Codex) -> Result<(), String> {
    let request = TurnRequest {
        model: DEMO_MODEL.to_owned(),
        history: vec![HistoryItem::text(Role::User, "[[text:ok]]")],
        upstream: codex.upstream_of(DEMO_MODEL),
        ..TurnRequest::default()
    };
    let mut turn = codex.client.start_turn(request).map_err(|error| error.to_string())?;
    let mut text = String::new();
    while let Some(event) = turn.next().await {
        match event {
            TurnEvent::Text(more) => text += &more,
            TurnEvent::Failed(failure) => return Err(failure.to_string()),
            TurnEvent::End(TurnEnd::Completed) if text == "ok" => return Ok(()),
            TurnEvent::End(_) => return Err(format!("it said {text:?}")),
            TurnEvent::MessageStart { .. }
            | TurnEvent::Reasoning { .. }
            | TurnEvent::ReasoningItem(_)
            | TurnEvent::ToolCallStart { .. }
            | TurnEvent::ToolCallArguments(_)
            | TurnEvent::ToolCall(_)
            | TurnEvent::Refusal(_)
            | TurnEvent::ResponseEnd { .. } => {}
        }
    }
    Err("the turn has no end".to_owned())
}

/// A port that our own server has is as good as a free one.
async fn check_port(settings: &Settings, report: &mut Report) -> io::Result<()> {
    let listen = settings.listen;
    let port = listen.port;
    let error = match app::bind(listen).await {
        Ok(_) if port == 0 => return report.good("a port is free"),
        Ok(_) => return report.good(&format!("port {port} is free")),
        Err(error) => error,
    };
    let target = Target::choose(&ServerOptions::default(), settings);
    // A key that cannot be read was told already.
    let Ok(target) = target.or_else(|_| Target::of(settings)) else {
        return report.bad(&error.to_string(), "choose another port with --port or PORT");
    };
    match Running::at(&target).await {
        Running::Ours { .. } if !takes_key(&target).await => report.note(
            &format!("port {port} is a server of ours that takes another key"),
            Some("it was started with another PROXY_API_KEY: use the same one, or start it again"),
        )?,
        Running::Ours { unready: None } => {
            report.good(&format!("port {port} is our own server, which is ready"))?;
        }
        Running::Ours { unready: Some(reason) } => report.note(
            &format!("port {port} is our own server, which is not ready ({reason})"),
            Some("wait a moment; if it stays so, its log says why"),
        )?,
        Running::Nobody | Running::SomebodyElse => {
            let fix = format!(
                "choose another port with --port or PORT; `ss -ltnp 'sport = :{port}'` shows who has it"
            );
            return report.bad(&error.to_string(), &fix);
        }
    }
    let page = target.base_url.page();
    if page_answers(&target).await {
        report.good(&format!("the page answers at {page}"))
    } else {
        report.bad(
            &format!("no page answers at {page}"),
            "start the server anew: it may be of an older version",
        )
    }
}
