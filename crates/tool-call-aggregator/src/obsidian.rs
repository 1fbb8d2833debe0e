//! The tools of Obsidian Copilot, and the `<use_tool>` blocks in which it reads their calls.
//!
//! Its tools have parameters in a fixed order (the [canon](canon())). [`to_obsidian_xml`] writes a call as
//! a block in that order, [`canonical_json_from_fields`] makes the fields of a block into arguments.
//! Tools that it does not know keep all they have, in the order they have it.
//!
//! ```
//! use tool_call_aggregator::obsidian::{XmlOptions, canonical_json_from_fields, to_obsidian_xml};
//!
//! let arguments = r#"{"salientTerms":["piano", "lessons"],"query":"piano & voice"}"#;
//! assert_eq!(
//!     to_obsidian_xml(("localSearch", arguments), &XmlOptions::default()),
//!     r#"<use_tool>
//!   <name>localSearch</name>
//!   <query>piano &amp; voice</query>
//!   <salientTerms>["piano", "lessons"]</salientTerms>
//! </use_tool>"#
//! );
//!
//! let fields = [("salientTerms", r#"["piano", "lessons"]"#), ("query", "2024")];
//! assert_eq!(
//!     canonical_json_from_fields("localSearch", &fields, None),
//!     r#"{"query":"2024","salientTerms":["piano", "lessons"]}"#
//! );
//! ```

mod canon;
mod escape;
mod fields;
mod xml;

pub use self::canon::{Parameter, ParameterKind, canon, tools};
pub use self::escape::{escape_json, escape_xml};
pub use self::fields::canonical_json_from_fields;
pub use self::xml::{RenderedXml, XmlEscaping, XmlOptions, render_obsidian_xml, to_obsidian_xml};

#[cfg(test)]
mod tests;
