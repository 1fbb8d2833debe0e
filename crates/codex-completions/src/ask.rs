//! `ask`: one turn, streamed to the terminal.

mod answer;
mod tool;

use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use codex_app_server::ResolvedModel;
use configuration::Settings;
use model_turn::{Failure, FailureKind, HistoryItem, Role, TurnRequest};

use crate::account;
use crate::cli::{self, Question};
use crate::codex::{self, Codex};
use crate::console;
use answer::Form;

pub(crate) use tool::OfferedTools;

pub(crate) async fn run(
    mut question: Question,
    settings: Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let text = read_text(question.text.take())?;
    let codex = Codex::start(&settings).await?;
    let outcome = ask(&codex, text, question, &settings).await;
    codex.client.shutdown().await;
    outcome
}

async fn ask(
    codex: &Codex,
    text: String,
    question: Question,
    settings: &Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let form = Form::of(&question);
    let ResolvedModel { model, effort } = match question.model.or(settings.codex.model.clone()) {
        Some(model) if !settings.codex.aliases.contains(&model) => {
            ResolvedModel { model, effort: None }
        }
        name => {
            let models = codex.client.models().await.map_err(|error| account::plain(&error))?;
            let default = codex::default_model(settings, &models)?;
            settings.codex.aliases.resolve(name.as_ref().unwrap_or(&default), &default)
        }
    };
    codex.check_promises(&model).await?;
    let turn = codex.client.start_turn(TurnRequest {
        history: vec![HistoryItem::text(Role::User, text)],
        tools: question.tools.into_iter().flat_map(|OfferedTools(tools)| tools).collect(),
        effort: question.effort.or(effort),
        upstream: codex.upstream_of(&model),
        early_arguments: form != Form::Json,
        model,
        ..TurnRequest::default()
    })?;
    match answer::show(turn, form).await? {
        None => Ok(ExitCode::SUCCESS),
        Some(failure) => Err(explain(failure).into()),
    }
}

/// What to ask: from the command line, or else from standard input.
fn read_text(text: Option<String>) -> Result<String, Box<dyn Error>> {
    if let Some(text) = text.filter(|text| text != "-") {
        return Ok(text);
    }
    if io::stdin().is_terminal() {
        writeln!(console::stderr(), "What do you want to ask? (Ctrl-D ends it)")?;
    }
    let text = io::read_to_string(io::stdin())
        .map_err(|error| format!("standard input cannot be read: {error}"))?;
    if text.trim().is_empty() {
        return Err("there is no question: give one, or a text on standard input".into());
    }
    Ok(text)
}

/// The failure, and what can be done about it.
fn explain(failure: Failure) -> String {
    let program = cli::program();
    let advice = match failure.kind {
        FailureKind::Unauthorized => {
            format!("`{program} login` signs you in; --model demo needs no account")
        }
        FailureKind::ModelNotFound => format!("`{program} models` lists the models"),
        FailureKind::Unreachable => "check the network, or PROXY_UPSTREAM_BASE_URL".to_owned(),
        kind if kind.retry_can_help() => "trying again may help".to_owned(),
        _ => return failure.message,
    };
    format!("{} ({advice})", failure.message)
}
