//! The models that can be asked, and other names for them.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::catalog::ANY_OTHER;
use crate::client::Client;
use crate::protocol::incoming::Models;
use crate::protocol::outgoing::ModelList;
use crate::request_error::RequestError;

pub use crate::protocol::incoming::Model;

/// Other names that are there from the start, in front of the reasoning effort.
///
/// Some clients choose the endpoint by the name, so that each comes without "codex" and "gpt-5"
/// in it too.
const BUILT_IN: [&str; 2] = ["codex-5", "chat"];

/// The reasoning efforts of the built-in names; a name without one leaves it to the model.
const EFFORTS: [&str; 3] = ["low", "medium", "high"];

/// Another name for a model, perhaps with a reasoning effort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAlias {
    /// The slug of the model; `None` is the default model.
    pub model: Option<String>,
    /// The reasoning effort.
    pub effort: Option<String>,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedModel {
    /// The slug of the model.
    pub model: String,
    /// The reasoning effort that the name asks for.
    pub effort: Option<String>,
}

/// Other names for models, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAliases {
    aliases: BTreeMap<String, ModelAlias>,
}

/// A list of aliases that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not name=model or name=model:effort")]
pub struct InvalidAlias(pub String);

// === impl Client ===

impl Client {
    /// The models of the catalog, best first; the hidden ones too.
    ///
    /// # Errors
    /// If Codex does not answer.
    pub async fn models(&self) -> Result<Vec<Model>, RequestError> {
        let mut models = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let list = ModelList { include_hidden: true, cursor: cursor.as_deref() };
            let page: Models = self.connection().request(&list).await?;
            // An empty page would be followed by itself.
            cursor = page.next_cursor.filter(|_| !page.data.is_empty());
            models.extend(page.data.into_iter().filter(|model| model.id != ANY_OTHER));
            if cursor.is_none() {
                return Ok(models);
            }
        }
    }
}

// === impl ModelAliases ===

impl ModelAliases {
    /// All names, with what they stand for.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ModelAlias)> {
        self.aliases.iter().map(|(name, alias)| (name.as_str(), alias))
    }

    /// Whether `name` is another name for a model.
    pub fn contains(&self, name: &str) -> bool {
        self.aliases.contains_key(name)
    }

    /// The slug of the model where none is chosen: the configured one, which may be another name for
    /// a model, or else the catalog's own default.
    pub fn default_model(&self, configured: Option<&str>, catalog: &[Model]) -> Option<String> {
        let own = catalog.iter().find(|model| model.is_default).map(|model| model.id.as_str());
        match configured {
            Some(name) => Some(self.resolve(name, own.unwrap_or(name)).model),
            None => own.map(str::to_owned),
        }
    }

    /// What `name` stands for; a name that is no alias is the slug of a model.
    pub fn resolve(&self, name: &str, default_model: &str) -> ResolvedModel {
        match self.aliases.get(name) {
            Some(alias) => ResolvedModel {
                model: alias.model.as_deref().unwrap_or(default_model).to_owned(),
                effort: alias.effort.clone(),
            },
            None => ResolvedModel { model: name.to_owned(), effort: None },
        }
    }
}

impl Default for ModelAliases {
    fn default() -> Self {
        let mut aliases = BTreeMap::new();
        for name in BUILT_IN {
            aliases.insert(name.to_owned(), ModelAlias { model: None, effort: None });
            for effort in EFFORTS {
                let alias = ModelAlias { model: None, effort: Some(effort.to_owned()) };
                aliases.insert(format!("{name}-{effort}"), alias);
            }
        }
        Self { aliases }
    }
}

/// `name=model` or `name=model:effort`, several separated by commas, beside the built-in ones.
impl FromStr for ModelAliases {
    type Err = InvalidAlias;

    fn from_str(list: &str) -> Result<Self, InvalidAlias> {
        let mut all = Self::default();
        for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let invalid = || InvalidAlias(entry.to_owned());
            let (name, target) = entry.split_once('=').ok_or_else(invalid)?;
            let (model, effort) = match target.split_once(':') {
                Some((model, effort)) => (model.trim(), Some(effort.trim())),
                None => (target.trim(), None),
            };
            let name = name.trim();
            if [Some(name), Some(model), effort].into_iter().flatten().any(str::is_empty) {
                return Err(invalid());
            }
            let effort = effort.map(str::to_owned);
            let alias = ModelAlias { model: Some(model.to_owned()), effort };
            all.aliases.insert(name.to_owned(), alias);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(aliases: &ModelAliases, name: &str) -> (String, Option<String>) {
        let ResolvedModel { model, effort } = aliases.resolve(name, "best");
        (model, effort)
    }

    #[test]
    fn built_in_names_stand_for_the_default_model() {
        let aliases = ModelAliases::default();
        assert_eq!(aliases.iter().count(), 8);
        assert_eq!(resolved(&aliases, "codex-5"), ("best".into(), None));
        assert_eq!(resolved(&aliases, "chat-high"), ("best".into(), Some("high".into())));
        assert_eq!(resolved(&aliases, "gpt-5.5"), ("gpt-5.5".into(), None));
    }

    #[test]
    fn own_names_come_beside_and_before_the_built_in_ones() {
        let aliases: ModelAliases = "fast = gpt-5.5:low, chat=gpt-6,".parse().unwrap();
        assert_eq!(resolved(&aliases, "fast"), ("gpt-5.5".into(), Some("low".into())));
        assert_eq!(resolved(&aliases, "chat"), ("gpt-6".into(), None));
        assert_eq!(resolved(&aliases, "chat-low"), ("best".into(), Some("low".into())));
    }

    #[test]
    fn what_is_no_alias_is_named() {
        for entry in ["fast", "=x", "x=", "x=:low", "x=y:"] {
            let error = entry.parse::<ModelAliases>().unwrap_err();
            assert_eq!(error, InvalidAlias(entry.to_owned()));
        }
    }
}
