//! What a response says of its request, as a record has it.

use openai_wire::ServiceTier;
use openai_wire::responses::{
    Echo, EncryptedContent, JsonText, ResponseHead, ResponseWriter, Truncation,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::Header;

/// What every response object of one answer has in common, beside its id, its time and its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResponseHeader {
    /// Whether the client gets to see reasoning itself.
    #[serde(default)]
    pub(crate) include_encrypted: bool,
    pub(crate) instructions: Option<String>,
    pub(crate) max_output_tokens: Option<u32>,
    pub(crate) max_tool_calls: Option<u32>,
    pub(crate) parallel_tool_calls: bool,
    pub(crate) previous_response_id: Option<String>,
    pub(crate) prompt_cache_key: Option<String>,
    pub(crate) reasoning: Value,
    pub(crate) safety_identifier: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) service_tier: Option<ServiceTier>,
    /// Whether it was to be kept.
    pub(crate) store: bool,
    pub(crate) text: Value,
    pub(crate) tool_choice: Value,
    pub(crate) tools: Value,
    pub(crate) truncation: Truncation,
    pub(crate) user: Option<String>,
    pub(crate) metadata: Value,
}

// === impl ResponseHeader ===

impl ResponseHeader {
    /// What a response object says, at whatever time.
    ///
    /// # Errors
    /// It is none.
    pub fn of(object: &[u8], encrypted: EncryptedContent) -> serde_json::Result<Self> {
        let header: Self = serde_json::from_slice(object)?;
        Ok(Self { include_encrypted: encrypted == EncryptedContent::Included, ..header })
    }

    pub(crate) fn encrypted(&self) -> EncryptedContent {
        if self.include_encrypted { EncryptedContent::Included } else { EncryptedContent::LeftOut }
    }

    /// What writes the same response objects again.
    pub(crate) fn writer(&self, header: &Header) -> ResponseWriter {
        ResponseWriter::new(&ResponseHead {
            id: &header.id,
            created_at: header.created,
            model: &header.model,
            instructions: self.instructions.as_deref(),
            max_output_tokens: self.max_output_tokens,
            parallel_tool_calls: self.parallel_tool_calls,
            previous_response_id: self.previous_response_id.as_deref(),
            store: self.store,
            echo: &Echo {
                tools: JsonText::new(&self.tools),
                tool_choice: JsonText::new(&self.tool_choice),
                text: JsonText::new(&self.text),
                reasoning: JsonText::new(&self.reasoning),
                metadata: JsonText::new(&self.metadata),
                user: self.user.clone(),
                safety_identifier: self.safety_identifier.clone(),
                prompt_cache_key: self.prompt_cache_key.clone(),
                truncation: self.truncation,
                max_tool_calls: self.max_tool_calls,
                service_tier: self.service_tier.unwrap_or_default(),
            },
        })
    }
}
