//! Whether there is anything to test: a wrong URL or key is no fault of the server.

use serde_json::Value;

use crate::error_body;
use crate::exchange::{Delivery, Exchange};
use crate::judge;
use crate::notes::shown;
use crate::runner::Plan;
use crate::scenario::{Endpoint, ModelKind, Scenario, Unreadable};
use crate::scripted::{self, ScriptedUpstream};
use crate::server::{Asked, Key, Server};

/// What the scripted model is asked, and what it alone answers.
const MARK: &str = "[[text]]";
const SAID_TO_MARK: &str = "Hello from the scripted model.";

/// Models that answer no questions are called so.
const NO_CHAT: [&str; 13] = [
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "image",
    "moderation",
    "audio",
    "realtime",
    "transcribe",
    "sora",
    "rerank",
    "babbage",
    "davinci",
];

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
    /// Somebody answers, but not as the API of such a server does.
    #[error("{asked} was answered with {answer}: {advice}")]
    WrongSetup {
        /// What was asked.
        asked: String,
        /// What came.
        answer: String,
        /// What to look at.
        advice: &'static str,
    },
    /// The model does not do what the marks say.
    #[error(
        "the model behind {server} is not the scripted one (--scripted): asked for {MARK} it said \
         {said:?}"
    )]
    NotScripted {
        /// Who was asked.
        server: String,
        /// What came instead.
        said: String,
    },
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

/// Looks whether the server can be tested, and says which model to ask.
pub(crate) async fn look(plan: &Plan, scenarios: &[Scenario]) -> Result<String, Unable> {
    if let ScriptedUpstream::Controlled(control) = &plan.upstream {
        scripted::disconnects(control)
            .await
            .map_err(|why| Unable::NoScriptedModel { server: control.to_string(), why })?;
    }
    let model = match &plan.model {
        Some(model) => model.clone(),
        None => first_model(&plan.server).await?,
    };
    probe(plan, &model, scenarios).await?;
    Ok(model)
}

/// The first that can be talked to.
async fn first_model(server: &Server) -> Result<String, Unable> {
    let asked = Asked { path: Endpoint::Models.path(), body: None, key: Key::Own };
    let answer = ask(server, asked.clone()).await?;
    let wrong = |advice| Err(wrong_setup(server, "GET", asked.path, &answer, advice));
    if let Some(advice) = advice(&answer) {
        return wrong(advice);
    }
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let models = body["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let models: Vec<&str> = models.iter().filter_map(|model| model["id"].as_str()).collect();
    let talks = |name: &&&str| !NO_CHAT.iter().any(|word| name.to_lowercase().contains(word));
    match models.iter().find(talks).or(models.first()) {
        Some(model) => Ok((*model).to_owned()),
        None => wrong("it lists no model; say with --model which one to ask"),
    }
}

/// One plain question, in every way until the server answers it.
async fn probe(plan: &Plan, model: &str, scenarios: &[Scenario]) -> Result<(), Unable> {
    let (server, kind) = (&plan.server, plan.model_kind());
    let (mut wrong, mut is_broken) = (None, false);
    for endpoint in [Endpoint::Chat, Endpoint::Responses] {
        let Some(scenario) = plain_scenario(scenarios, endpoint) else { continue };
        let mut scenario = scenario.clone();
        if kind == ModelKind::Scripted {
            scenario.ask.scripted = Some(MARK.to_owned());
        }
        for delivery in [Delivery::Whole, Delivery::Streamed] {
            let body = scenario.body(model, kind, delivery).map(|body| body.to_string());
            let asked = Asked { path: endpoint.path(), body, key: Key::Own };
            let answer = ask(server, asked.clone()).await?;
            let said = || judge::text_of(&scenario, delivery, &answer);
            let found = match advice(&answer) {
                Some(advice) => wrong_setup(server, "POST", asked.path, &answer, advice),
                // It may be broken in one way and obey in another.
                None if answer.status == 200 && kind == ModelKind::Scripted => match said() {
                    text if text.contains(SAID_TO_MARK) => return Ok(()),
                    text => not_scripted(server, &text),
                },
                None if answer.status == 200 => return Ok(()),
                None => {
                    is_broken = true;
                    continue;
                }
            };
            wrong.get_or_insert(found);
        }
    }
    match wrong {
        // What is wrong with it is for the rules to tell.
        None | Some(Unable::WrongSetup { .. }) if is_broken => Ok(()),
        wrong => wrong.map_or(Ok(()), Err),
    }
}

fn not_scripted(server: &Server, said: &str) -> Unable {
    let said = shown(said, &server.secrets());
    Unable::NotScripted { server: server.to_string(), said }
}

/// The scenario that asks for nothing special.
pub(crate) fn plain_scenario(scenarios: &[Scenario], endpoint: Endpoint) -> Option<&Scenario> {
    let answers = judge::outcome_rules(endpoint)?.answers;
    scenarios.iter().find(|scenario| scenario.unanswered == answers)
}

async fn ask(server: &Server, asked: Asked<'_>) -> Result<Exchange, Unable> {
    server.ask(asked).await.map_err(|error| Unable::NoServer {
        server: server.to_string(),
        why: shown(&error.to_string(), &server.secrets()),
    })
}

/// What to look at, where an answer is one of something else than the API.
fn advice(answer: &Exchange) -> Option<&'static str> {
    let is_page = answer.content_type == "text/html" || answer.body.trim_start().starts_with('<');
    match answer.status {
        401 | 403 => Some("is the key right (--api-key)?"),
        300..=399 => Some("clients do not follow it; give the URL that it points to"),
        404 | 405 => Some("is the path of the base URL right (is /v1 missing?), and the model?"),
        200 if is_page => Some("that is a page; is /v1 missing in the base URL?"),
        _ => None,
    }
}

fn wrong_setup(
    server: &Server,
    method: &str,
    path: &str,
    answer: &Exchange,
    advice: &'static str,
) -> Unable {
    let found = match &answer.location {
        Some(location) => format!("{} to {location}", answer.status),
        None => error_body::summary(answer),
    };
    Unable::WrongSetup {
        asked: format!("{method} {server}{path}"),
        answer: shown(&found, &server.secrets()),
        advice,
    }
}

// === impl Plan ===

impl Plan {
    pub(crate) fn model_kind(&self) -> ModelKind {
        match self.upstream {
            ScriptedUpstream::Unknown => ModelKind::Any,
            ScriptedUpstream::Marks | ScriptedUpstream::Controlled(_) => ModelKind::Scripted,
        }
    }
}
