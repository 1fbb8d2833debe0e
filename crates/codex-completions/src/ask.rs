//! `ask`: one turn, streamed to the terminal.

use std::error::Error;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use codex_app_server::turn::event::{TurnEnd, TurnEvent};
use codex_app_server::{
    Failure, FailureKind, HistoryItem, ResolvedModel, Role, Tool, Turn, TurnRequest,
};
use configuration::Settings;
use serde_json::json;

use crate::account;
use crate::cli::{self, Question};
use crate::codex::{self, Codex};

pub(crate) async fn run(
    question: Question,
    settings: Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let codex = Codex::start(&settings).await?;
    let outcome = answer(&codex, question, &settings).await;
    codex.client.shutdown().await;
    outcome
}

async fn answer(
    codex: &Codex,
    question: Question,
    settings: &Settings,
) -> Result<ExitCode, Box<dyn Error>> {
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
    let turn = codex.client.start_turn(TurnRequest {
        history: vec![HistoryItem::text(Role::User, question.text)],
        tools: question.tools.into_iter().map(tool).collect(),
        effort: question.effort.or(effort),
        upstream: codex.upstream_of(&model),
        model,
        ..TurnRequest::default()
    })?;
    print(turn).await
}

/// Nobody has told us what the tool takes: one text will do to see a call.
fn tool(name: String) -> Tool {
    Tool {
        description: format!("The tool {name}"),
        name,
        parameters: json!({
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        }),
    }
}

/// Text goes to standard output as it comes; reasoning is shown dimmed, on a terminal only.
async fn print(mut turn: Turn) -> Result<ExitCode, Box<dyn Error>> {
    let mut out = io::stdout();
    let dimmed = out.is_terminal();
    let mut line_open = false;
    while let Some(event) = turn.next().await {
        match event {
            TurnEvent::Text(text) => {
                line_open = !text.ends_with('\n');
                write!(out, "{text}")?;
            }
            TurnEvent::Reasoning { text, .. } if dimmed => {
                line_open = !text.ends_with('\n');
                write!(out, "\u{1b}[2m{text}\u{1b}[0m")?;
            }
            TurnEvent::MessageStart { .. } => close_line(&mut out, &mut line_open)?,
            TurnEvent::Reasoning { .. } | TurnEvent::ReasoningItem(_) => {}
            TurnEvent::ToolCall(call) => {
                close_line(&mut out, &mut line_open)?;
                writeln!(out, "→ {} {}", call.name, call.arguments)?;
            }
            TurnEvent::ResponseEnd { usage, .. } => {
                if let Some(usage) = usage {
                    tracing::info!(?usage, "the response has ended");
                }
            }
            TurnEvent::End(TurnEnd::Completed | TurnEnd::ToolCalls | TurnEnd::Interrupted) => {
                close_line(&mut out, &mut line_open)?;
                return Ok(ExitCode::SUCCESS);
            }
            TurnEvent::Failed(failure) => {
                close_line(&mut out, &mut line_open)?;
                return Err(explain(failure).into());
            }
        }
        out.flush()?;
    }
    Ok(ExitCode::FAILURE)
}

fn close_line(out: &mut impl io::Write, line_open: &mut bool) -> io::Result<()> {
    if std::mem::take(line_open) {
        writeln!(out)?;
    }
    Ok(())
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
