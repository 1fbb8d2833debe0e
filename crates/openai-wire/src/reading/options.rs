//! Simple fields.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Object;
use crate::ApiError;

/// How the model's thoughts should be summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningSummary {
    /// As the model thinks best.
    Auto,
    /// In short.
    Concise,
    /// At length.
    Detailed,
    /// Not at all.
    None,
}

/// How many words the model should make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verbosity {
    /// Few.
    Low,
    /// Some.
    Medium,
    /// Many.
    High,
}

/// How the upstream should process a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceTier {
    /// As usual.
    #[default]
    Default,
    /// Sooner.
    Priority,
    /// Cheaper.
    Flex,
}

/// Longest name of a model, in bytes.
const LONGEST_MODEL: usize = 256;

pub(crate) fn read_model(request: &mut Object<'_>) -> Result<String, ApiError> {
    let model = request.required_string("model")?;
    if (1..=LONGEST_MODEL).contains(&model.len()) {
        return Ok(model);
    }
    let problem = format!("The name of a model must have 1 to {LONGEST_MODEL} bytes.");
    Err(request.path("model").invalid(problem))
}

/// Effort and summary of `reasoning`.
pub(crate) fn read_reasoning(
    request: &mut Object<'_>,
) -> Result<(Option<String>, Option<ReasoningSummary>), ApiError> {
    let Some(reasoning) = request.take("reasoning") else { return Ok((None, None)) };
    let mut reasoning = Object::read(reasoning, request.path("reasoning"))?;
    let effort = reasoning.string("effort")?.filter(|effort| !effort.is_empty());
    let summary = match ReasoningSummary::read(&mut reasoning, "summary")? {
        None => ReasoningSummary::read(&mut reasoning, "generate_summary")?,
        summary => summary,
    };
    Ok((effort, summary))
}

/// How the upstream should process the request. `fast` is Codex's word for `priority`, and what happens
/// anyway need not be asked for. Codex drops any other tier, which is then ignored.
pub(crate) fn read_service_tier(
    request: &mut Object<'_>,
    ignored: &mut Vec<&'static str>,
) -> Result<ServiceTier, ApiError> {
    const FIELD: &str = "service_tier";
    let tier = request.string(FIELD)?;
    Ok(match tier.as_deref() {
        None | Some("" | "auto" | "default") => ServiceTier::Default,
        Some("priority" | "fast") => ServiceTier::Priority,
        Some("flex") => ServiceTier::Flex,
        Some(_) => {
            ignored.push(FIELD);
            ServiceTier::Default
        }
    })
}

/// Only text can be had.
pub(crate) fn refuse_audio(request: &mut Object<'_>) -> Result<(), ApiError> {
    if request.take("audio").is_some() {
        let problem = "Audio cannot be had: leave 'audio' out, and 'modalities' too or [\"text\"].";
        return Err(request.path("audio").invalid(problem));
    }
    let modalities = request.array("modalities")?.unwrap_or_default();
    let path = request.path("modalities");
    for (index, modality) in modalities.iter().enumerate() {
        match modality {
            Value::String(name) if name == "text" => {}
            Value::String(name) => return Err(path.item(index).unsupported(name, &["text"])),
            other => return Err(path.item(index).wrong_type("a string", other)),
        }
    }
    Ok(())
}

// === impl ServiceTier ===

impl ServiceTier {
    /// As the upstream is asked for it, unless it is the usual one.
    pub fn asked(self) -> Option<&'static str> {
        match self {
            Self::Default => None,
            Self::Priority => Some("priority"),
            Self::Flex => Some("flex"),
        }
    }
}

// === impl Verbosity ===

impl Verbosity {
    pub(crate) fn read(members: &mut Object<'_>) -> Result<Option<Self>, ApiError> {
        let Some(verbosity) = members.string("verbosity")? else { return Ok(None) };
        match verbosity.as_str() {
            "low" => Ok(Some(Self::Low)),
            "medium" => Ok(Some(Self::Medium)),
            "high" => Ok(Some(Self::High)),
            _ => {
                let allowed = ["low", "medium", "high"];
                Err(members.path("verbosity").unsupported(&verbosity, &allowed))
            }
        }
    }

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

// === impl ReasoningSummary ===

impl ReasoningSummary {
    /// `generate_summary` is an older name.
    fn read(reasoning: &mut Object<'_>, name: &str) -> Result<Option<Self>, ApiError> {
        let Some(summary) = reasoning.string(name)? else { return Ok(None) };
        match summary.as_str() {
            "auto" => Ok(Some(Self::Auto)),
            "concise" => Ok(Some(Self::Concise)),
            "detailed" => Ok(Some(Self::Detailed)),
            "none" => Ok(Some(Self::None)),
            _ => {
                let allowed = ["auto", "concise", "detailed", "none"];
                Err(reasoning.path(name).unsupported(&summary, &allowed))
            }
        }
    }
}
