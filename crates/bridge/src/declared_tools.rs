//! The tools that a request declares, as an answer needs to know them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use model_turn::ToolName;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The tools that a request declares. Those of a namespace are named `namespace.name` here, as in a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeclaredTools {
    /// The parameters' schema of each. Apart from the rest, because the format of blocks shares them.
    #[serde(rename = "tools", with = "shared")]
    schemas: Arc<HashMap<String, Value>>,
    /// Those that are not just functions: most requests have none.
    #[serde(rename = "other_tools", default, skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<String, OtherTool>,
}

/// A tool that is not just a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherTool {
    /// Its name.
    #[serde(flatten)]
    pub name: ToolName,
    /// Whether its input is a text.
    pub is_custom: bool,
}

// === impl DeclaredTools ===

impl DeclaredTools {
    /// Names and schemas, and those of them that are not just functions.
    pub fn new(
        schemas: impl IntoIterator<Item = (String, Value)>,
        others: impl IntoIterator<Item = (String, OtherTool)>,
    ) -> Self {
        Self {
            schemas: Arc::new(schemas.into_iter().collect()),
            others: others.into_iter().collect(),
        }
    }

    /// The parameters' schema of a tool; `None` if there is no such tool.
    pub fn schema(&self, name: &str) -> Option<&Value> {
        self.schemas.get(name)
    }

    /// The tool of this name, if it is not just a function.
    pub(crate) fn other(&self, name: &str) -> Option<&OtherTool> {
        self.others.get(name)
    }

    /// All schemas.
    pub(crate) fn schemas(&self) -> Arc<HashMap<String, Value>> {
        Arc::clone(&self.schemas)
    }

    /// Names and schemas.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.schemas.iter().map(|(name, schema)| (name.as_str(), schema))
    }

    /// The schemas in the order of their tools' names, to be changed.
    pub fn schemas_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let schemas: BTreeMap<_, _> = Arc::make_mut(&mut self.schemas).iter_mut().collect();
        schemas.into_values()
    }

    /// Those that are not just functions.
    pub fn others(&self) -> impl Iterator<Item = &OtherTool> {
        self.others.values()
    }

    /// Whether none is declared.
    pub fn is_empty(&self) -> bool {
        self.schemas.is_empty()
    }
}

/// Functions, and nothing else.
impl FromIterator<(String, Value)> for DeclaredTools {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(tools: T) -> Self {
        Self::new(tools, [])
    }
}

/// A map that is shared, in the order of its keys.
mod shared {
    use std::collections::{BTreeMap, HashMap};
    use std::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(
        map: &Arc<HashMap<String, Value>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        map.iter().collect::<BTreeMap<_, _>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<HashMap<String, Value>>, D::Error> {
        HashMap::deserialize(deserializer).map(Arc::new)
    }
}
