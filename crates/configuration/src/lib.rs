//! Every setting of codex-completions.
//!
//! [`VARIABLES`] is the table of all of them: names, defaults, what is allowed and what it means.
//! [`load`] reads the layers, the last of which wins: the default, the TOML file, the file of
//! `--env-file`, the environment, flags. All that is wrong is reported at once. [`reload`] reads
//! them again while we run.

mod access;
mod dotenv;
mod files;
mod key;
mod keys;
mod kind;
mod loading;
mod problem;
mod reloading;
mod replaced;
mod settings;
mod source;
pub mod table;
mod toml_file;
mod trusted;
mod value;
mod values;
mod variable;

pub use access::is_weak_key;
pub use key::{
    ApiKey, InvalidKeyName, KeyChangeError, KeyDigest, KeyError, KeyId, KeyName, KeyOrigin,
    NamedKeys, RunSecretFile, random_key,
};
pub use keys::{Kept, Key, Keys};
pub use kind::Kind;
pub use loading::{Flags, Inputs, Loaded, load, turns_with};
pub use problem::{Problem, Problems, Warning};
pub use reloading::{Reloaded, reload};
pub use settings::{Access, CodexSettings, Host, Listen, LogFormat, LogSettings, Settings};
pub use source::Source;
pub use table::VARIABLES;
pub use values::{Effective, Values};
pub use variable::{DefaultValue, Reload, Variable};
