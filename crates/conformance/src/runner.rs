//! Plays the scenarios against a server.

use std::collections::BTreeMap;
use std::time::Instant;

use jiff::Timestamp;

use crate::connection::Unanswered;
use crate::error_body;
use crate::exchange::{Delivery, Exchange};
use crate::judge;
use crate::notes::{Notes, shown};
use crate::reading::Answer;
use crate::report::Report;
use crate::rule::rules;
use crate::scenario::{Client, Endpoint, ExpectedOutcome, ModelKind, Scenario, scenarios};
use crate::scripted::{self, Afterwards, ScriptedUpstream};
use crate::selection::Selection;
use crate::server::{Asked, Key, Server};
use crate::setup::{self, Unable};
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
    pub only: Vec<Selection>,
}

/// Plays every scenario that says something about the rules.
///
/// # Errors
/// If nothing can be tested.
pub async fn run(plan: &Plan) -> Result<Report, Unable> {
    let (started, time) = (Instant::now(), Timestamp::now());
    let (mut rules, scenarios) = (rules()?, scenarios()?);
    if !plan.only.is_empty() {
        rules.retain(|rule| plan.only.iter().any(|selection| selection.has(rule)));
    }
    let model = setup::look(plan, &scenarios).await?;
    let tally = Tally::hiding(plan.server.secrets());
    let mut playing = Playing { plan, model, scenarios: &scenarios, plain: BTreeMap::new(), tally };
    for scenario in &scenarios {
        if rules.iter().any(|rule| scenario.is_about(rule.id)) {
            playing.play(scenario).await;
        }
    }
    let Playing { model, tally, .. } = playing;
    let named = |selection: &Selection| match selection {
        Selection::Rule(id) => Some(*id),
        Selection::Prefix(_) => None,
    };
    Ok(Report {
        server: plan.server.to_string(),
        model: shown(&model, &plan.server.secrets()),
        is_scripted: plan.model_kind() == ModelKind::Scripted,
        time,
        verdicts: tally.verdicts(rules),
        named: plan.only.iter().filter_map(named).collect(),
        duration: started.elapsed(),
    })
}

struct Playing<'a> {
    plan: &'a Plan,
    model: String,
    scenarios: &'a [Scenario],
    /// How requests that ask for nothing special are refused, where they are.
    plain: BTreeMap<(Endpoint, Delivery), Option<String>>,
    tally: Tally,
}

// === impl Playing ===

impl Playing<'_> {
    async fn play(&mut self, scenario: &Scenario) {
        let outcome = match scenario.client {
            Client::Leaves => self.leave(scenario).await,
            Client::WrongKey => match self.needs_key(scenario).await {
                Ok(()) => self.read(scenario).await,
                Err(why) => Err(why),
            },
            Client::Reads => self.read(scenario).await,
        };
        match outcome {
            Ok(notes) => self.tally.add(scenario.name, notes),
            Err(why) => self.tally.pass_over(&scenario.rules, &why),
        }
    }

    /// Asks in every way, and reads to the end; or says why it cannot be asked.
    async fn read(&mut self, scenario: &Scenario) -> Result<Notes, String> {
        let kind = self.plan.model_kind();
        let mut notes = Notes::hiding(self.plan.server.secrets());
        let mut answers = Vec::new();
        for delivery in &scenario.deliveries {
            let exchange = match self.ask(scenario, *delivery).await? {
                Ok(exchange) => exchange,
                Err(error) => {
                    notes.broken(scenario.unanswered, error.to_string());
                    continue;
                }
            };
            if let Some(why) = self.says_nothing(scenario, *delivery, &exchange).await {
                self.tally.pass_over(&scenario.rules, &why);
                continue;
            }
            let answer = judge::exchange(scenario, kind, *delivery, &exchange, &mut notes);
            if answer.is_none() && scenario.expected.outcome == ExpectedOutcome::Answer {
                let found = error_body::summary(&exchange);
                let why = format!("{} was answered with {found}", scenario.name);
                self.tally.pass_over(&scenario.rules, &why);
            }
            answers.extend(answer);
        }
        // Two answers of another model may well differ.
        if let ([streamed, whole], ModelKind::Scripted) = (answers.as_slice(), kind) {
            let (streamed, whole): (&Answer, &Answer) = (streamed, whole);
            judge::same(scenario, streamed, whole, &mut notes);
        }
        Ok(notes)
    }

    /// A refusal says nothing of what is special in a request where the server refuses any: why.
    async fn says_nothing(
        &mut self,
        scenario: &Scenario,
        delivery: Delivery,
        exchange: &Exchange,
    ) -> Option<String> {
        let rules = judge::outcome_rules(scenario.endpoint)?;
        let is_special = scenario.unanswered != rules.answers && scenario.client == Client::Reads;
        if exchange.status == 200 || !is_special {
            return None;
        }
        let asked = (scenario.endpoint, delivery);
        if !self.plain.contains_key(&asked) {
            let refused = self.plain_refusal(scenario.endpoint, delivery).await;
            self.plain.insert(asked, refused);
        }
        let refused = self.plain.get(&asked)?.as_ref()?;
        let way = match delivery {
            Delivery::Streamed => "streamed",
            Delivery::Whole => "whole",
        };
        Some(format!("a plain request for a {way} answer is refused, too: {refused}"))
    }

    async fn plain_refusal(&self, endpoint: Endpoint, delivery: Delivery) -> Option<String> {
        let plain = setup::plain_scenario(self.scenarios, endpoint)?;
        match self.ask(plain, delivery).await.ok()? {
            Ok(exchange) if exchange.status == 200 => None,
            Ok(exchange) => Some(error_body::summary(&exchange)),
            Err(error) => Some(error.to_string()),
        }
    }

    async fn ask(
        &self,
        scenario: &Scenario,
        delivery: Delivery,
    ) -> Result<Result<Exchange, Unanswered>, String> {
        let asked = self.asked(scenario, delivery)?;
        let exchange = self.plan.server.ask(asked).await;
        let is_refused = exchange.as_ref().is_ok_and(|exchange| exchange.status == 400);
        match scenario.otherwise() {
            Some(other) if is_refused && self.plan.model_kind() == ModelKind::Any => {
                Ok(self.plan.server.ask(self.asked(&other, delivery)?).await)
            }
            _ => Ok(exchange),
        }
    }

    fn asked<'a>(&self, scenario: &Scenario, delivery: Delivery) -> Result<Asked<'a>, String> {
        let body = match scenario.endpoint {
            Endpoint::Models => None,
            Endpoint::Chat | Endpoint::Responses | Endpoint::Nowhere => {
                let body = scenario.body(&self.model, self.plan.model_kind(), delivery);
                Some(body.ok_or("only a scripted model does this (--scripted)")?.to_string())
            }
        };
        let is_wrong = scenario.client == Client::WrongKey;
        let key = if is_wrong { Key::Other(WRONG_KEY) } else { Key::Own };
        Ok(Asked { path: scenario.endpoint.path(), body, key })
    }

    /// Whether the server wants a key at all, and has one that could be wrong.
    async fn needs_key(&self, scenario: &Scenario) -> Result<(), String> {
        if !self.plan.server.has_key() {
            return Err("no key was given that could be wrong (--api-key)".to_owned());
        }
        let asked = Asked { key: Key::None, ..self.asked(scenario, Delivery::Streamed)? };
        match self.plan.server.ask(asked).await {
            Ok(exchange) if exchange.status < 400 => {
                Err("the server answers without a key, too".to_owned())
            }
            Ok(_) => Ok(()),
            Err(error) => Err(format!("asked without a key: {error}")),
        }
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
        match scripted::one_more_than(control, before).await {
            Afterwards::Ended => notes.kept(scenario.unanswered),
            Afterwards::StillRunning => {
                let words = "the client had left, and the model's request went on";
                notes.broken(scenario.unanswered, words);
            }
            Afterwards::Unknown(why) => return Err(why),
        }
        Ok(notes)
    }
}
