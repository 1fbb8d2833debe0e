//! Plays the scenarios against a server.

use std::time::Instant;

use serde_json::Value;

use crate::answer::Answer;
use crate::error_body;
use crate::exchange::{Delivery, Exchange};
use crate::judge;
use crate::notes::Notes;
use crate::report::Report;
use crate::rule::{RuleId, rules};
use crate::scenario::{
    Client, Endpoint, ExpectedOutcome, ModelKind, Scenario, Unreadable, scenarios,
};
use crate::scripted::{self, Afterwards, ScriptedUpstream};
use crate::server::{Asked, Server, Unanswered};
use crate::verdict::Tally;

/// A key that no server has.
const WRONG_KEY: &str = "sk-wrong-key-of-the-conformance-kit";

/// What is to be tested.
#[derive(Debug)]
pub struct Plan {
    /// The server.
    pub server: Server,
    /// The model to ask for; else the first that the server lists.
    pub model: Option<String>,
    /// What is known of that model.
    pub upstream: ScriptedUpstream,
    /// Only these rules; all of them if there are none.
    pub only: Vec<RuleId>,
}

/// Nothing could be tested.
#[derive(Debug, thiserror::Error)]
pub enum Unable {
    /// Nobody answers.
    #[error("{server}: {why}")]
    NoServer {
        /// Who was asked.
        server: String,
        /// What happened.
        why: String,
    },
    /// No model was named, and none is listed.
    #[error("{0} lists no model: say with --model which one to ask")]
    NoModel(String),
    /// The scripted model is not where it was said to be.
    #[error("the scripted model at {server}: {why}")]
    NoScriptedModel {
        /// Who was asked.
        server: String,
        /// What happened.
        why: String,
    },
    /// The data of the kit.
    #[error(transparent)]
    Data(#[from] Unreadable),
}

/// Plays every scenario that says something about the rules.
///
/// # Errors
/// If there is nobody to ask.
pub async fn run(plan: &Plan) -> Result<Report, Unable> {
    let started = Instant::now();
    let (mut rules, scenarios) = (rules()?, scenarios()?);
    if !plan.only.is_empty() {
        rules.retain(|rule| plan.only.contains(&rule.id));
    }
    let model = choose_model(plan).await?;
    if let ScriptedUpstream::Controlled(control) = &plan.upstream {
        scripted::disconnects(control)
            .await
            .map_err(|why| Unable::NoScriptedModel { server: control.to_string(), why })?;
    }
    let mut playing = Playing { plan, model, tally: Tally::default() };
    for scenario in &scenarios {
        if rules.iter().any(|rule| scenario.is_about(rule.id)) {
            playing.play(scenario).await;
        }
    }
    let Playing { model, tally, .. } = playing;
    let server = plan.server.to_string();
    Ok(Report { server, model, verdicts: tally.verdicts(rules), duration: started.elapsed() })
}

async fn choose_model(plan: &Plan) -> Result<String, Unable> {
    let server = || plan.server.to_string();
    let asked = Asked { path: Endpoint::Models.path(), body: None, key: None };
    let answer = plan.server.ask(asked).await;
    let answer =
        answer.map_err(|error| Unable::NoServer { server: server(), why: error.to_string() })?;
    if let Some(model) = &plan.model {
        return Ok(model.clone());
    }
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let first = body["data"][0]["id"].as_str();
    first.map(str::to_owned).ok_or_else(|| Unable::NoModel(server()))
}

struct Playing<'a> {
    plan: &'a Plan,
    model: String,
    tally: Tally,
}

// === impl Playing ===

impl Playing<'_> {
    fn kind(&self) -> ModelKind {
        match self.plan.upstream {
            ScriptedUpstream::Unknown => ModelKind::Any,
            ScriptedUpstream::Marks | ScriptedUpstream::Controlled(_) => ModelKind::Scripted,
        }
    }

    async fn play(&mut self, scenario: &Scenario) {
        let outcome = match scenario.client {
            Client::Leaves => self.leave(scenario).await,
            Client::WrongKey if !self.plan.server.has_key() => {
                Err("no key was given that could be wrong (--api-key)".to_owned())
            }
            Client::WrongKey | Client::Reads => self.read(scenario).await,
        };
        match outcome {
            Ok(notes) => self.tally.add(scenario.name, notes),
            Err(why) => self.tally.pass_over(&scenario.rules, &why),
        }
    }

    /// Asks in every way, and reads to the end; or says why it cannot be asked.
    async fn read(&mut self, scenario: &Scenario) -> Result<Notes, String> {
        let mut notes = Notes::default();
        let mut answers = Vec::new();
        for delivery in &scenario.deliveries {
            match self.ask(scenario, *delivery).await? {
                Ok(exchange) => {
                    let kind = self.kind();
                    let answer = judge::exchange(scenario, kind, *delivery, &exchange, &mut notes);
                    if answer.is_none() && scenario.expected.outcome == ExpectedOutcome::Answer {
                        let found = error_body::summary(&exchange);
                        let why = format!("{} was answered with {found}", scenario.name);
                        self.tally.pass_over(&scenario.rules, &why);
                    }
                    answers.extend(answer);
                }
                Err(error) => {
                    let rule = scenario.rules.first().copied().unwrap_or(RuleId::ChatAnswers);
                    notes.broken(rule, error.to_string());
                }
            }
        }
        // Two answers of another model may well differ.
        if let ([streamed, whole], ModelKind::Scripted) = (answers.as_slice(), self.kind()) {
            let (streamed, whole): (&Answer, &Answer) = (streamed, whole);
            judge::same(scenario, streamed, whole, &mut notes);
        }
        Ok(notes)
    }

    async fn ask(
        &self,
        scenario: &Scenario,
        delivery: Delivery,
    ) -> Result<Result<Exchange, Unanswered>, String> {
        let asked = self.asked(scenario, delivery)?;
        Ok(self.plan.server.ask(asked).await)
    }

    fn asked<'a>(&self, scenario: &Scenario, delivery: Delivery) -> Result<Asked<'a>, String> {
        let body = match scenario.endpoint {
            Endpoint::Models => None,
            Endpoint::Chat | Endpoint::Responses | Endpoint::Nowhere => {
                let body = scenario.body(&self.model, self.kind(), delivery);
                Some(body.ok_or("only a scripted model does this (--scripted)")?.to_string())
            }
        };
        let key = (scenario.client == Client::WrongKey).then_some(WRONG_KEY);
        Ok(Asked { path: scenario.endpoint.path(), body, key })
    }

    /// Leaves when the answer has begun, and looks whether the model is left, too.
    async fn leave(&mut self, scenario: &Scenario) -> Result<Notes, String> {
        let ScriptedUpstream::Controlled(control) = &self.plan.upstream else {
            return Err("only the scripted model tells what became of its requests \
                        (--scripted-url)"
                .to_owned());
        };
        let before = scripted::disconnects(control).await?;
        let asked = self.asked(scenario, Delivery::Streamed)?;
        let status = self.plan.server.ask_and_leave(asked).await;
        let status = status.map_err(|error| error.to_string())?;
        if status != 200 {
            return Err(format!("{} was answered with {status}", scenario.name));
        }
        let mut notes = Notes::default();
        let rule = judge::disconnect_rule(scenario);
        match scripted::one_more_than(control, before).await {
            Afterwards::Ended => notes.kept(rule),
            Afterwards::StillRunning => {
                notes.broken(rule, "the client had left, and the model's request went on");
            }
            Afterwards::Unknown(why) => return Err(why),
        }
        Ok(notes)
    }
}
