//! `doctor`: is everything there that a turn needs?

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Instant;

use codex_app_server::turn::event::{TurnEnd, TurnEvent};
use codex_app_server::{CodexBinary, DEMO_MODEL, HistoryItem, Role, TurnRequest};
use configuration::{Listen, Settings};

use crate::account::{Standing, describe};
use crate::app;
use crate::cli;
use crate::codex::{self, Codex};

/// Whether all checks went well so far; each prints its own line.
#[derive(Default)]
struct Report {
    failures: usize,
}

pub(crate) async fn run(settings: Settings) -> Result<ExitCode, Box<dyn Error>> {
    let mut report = Report::default();
    good(&format!("codex-completions {}", env!("CARGO_PKG_VERSION")))?;
    match codex::locate(&settings).await {
        Ok(binary) => {
            let path = binary.path().display();
            good(&format!("codex {} at {path}", binary.version()))?;
            check_child(binary, &settings, &mut report).await?;
        }
        Err(error) => report.bad(&error.to_string())?,
    }
    check_port(settings.listen, &mut report).await?;
    Ok(if report.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
            return report
                .bad(&format!("{error} (its home is {home}; PROXY_CODEX_HOME chooses another)"));
        }
    };
    good(&format!("home {home} is writable"))?;
    good(&format!("codex app-server is ready after {} ms", started.elapsed().as_millis()))?;
    check_login(&codex, settings, report).await?;
    let started = Instant::now();
    match demo_turn(&codex).await {
        Ok(()) => {
            good(&format!("demo answers after {} ms", started.elapsed().as_millis()))?;
        }
        Err(words) => report.bad(&format!("demo does not answer: {words}"))?,
    }
    codex.client.shutdown().await;
    Ok(())
}

/// Nobody signed in is a state, and not a fault.
async fn check_login(codex: &Codex, settings: &Settings, report: &mut Report) -> io::Result<()> {
    match Standing::of(&codex.client, false).await {
        Ok(Standing::SignedIn(account)) => good(&format!("signed in {}", describe(&account))),
        Ok(Standing::NotLookedUp(reason)) => report.bad(&format!(
            "signed in, but the account cannot be looked up: {reason}; check the network"
        )),
        Ok(Standing::Nobody) if settings.codex.upstream.is_some() => {
            note("nobody is signed in, and PROXY_UPSTREAM_BASE_URL needs nobody")
        }
        Ok(Standing::Nobody) => note(&format!(
            "nobody is signed in: only the model demo works; `{} login` signs you in",
            cli::program()
        )),
        Err(error) => {
            report.bad(&format!("the login cannot be checked: {}", error.in_plain_words()))
        }
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
            | TurnEvent::ToolCall(_)
            | TurnEvent::ResponseEnd { .. } => {}
        }
    }
    Err("the turn has no end".to_owned())
}

async fn check_port(listen: Listen, report: &mut Report) -> io::Result<()> {
    match server::bind(&app::listen(listen)).await {
        Ok(_) if listen.port == 0 => good("a port is free"),
        Ok(_) => good(&format!("port {} is free", listen.port)),
        Err(error) => report.bad(&error.to_string()),
    }
}

// === impl Report ===

impl Report {
    fn bad(&mut self, words: &str) -> io::Result<()> {
        self.failures += 1;
        writeln!(io::stdout(), "FAIL  {words}")
    }
}

fn note(words: &str) -> io::Result<()> {
    writeln!(io::stdout(), "note  {words}")
}

fn good(words: &str) -> io::Result<()> {
    writeln!(io::stdout(), "ok    {words}")
}
