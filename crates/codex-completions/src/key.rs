//! `key`: who may use the server.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use configuration::table::PROXY_API_KEY;
use configuration::{
    ApiKey, Kept, Key, KeyChangeError, KeyName, Keys, NamedKeys, Settings, Values, Warning,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use crate::console;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeyOptions {
    #[command(subcommand)]
    task: KeyTask,
}

const EXAMPLES: &str = "\
A key is printed once, when it is made, and alone on standard output. Of a named one only a hash is
kept. The key \"default\" is the value of PROXY_API_KEY, or else in the file that `serve` names.
`rotate` keeps what a key has stored; one that is added after `revoke` starts with nothing.
A running server takes up every change by itself.

Examples:
  codex-completions key add phone
  KEY=$(codex-completions key add laptop)
  codex-completions key list
  codex-completions key rotate phone
  codex-completions key revoke phone";

#[derive(Debug, Subcommand)]
enum KeyTask {
    /// Make a key for somebody, and print it
    Add {
        /// What it is called in lists and logs
        name: KeyName,
    },
    /// Show which keys there are, since when, and where they are kept
    List(ListOptions),
    /// Make a key worthless
    Revoke {
        /// What it is called
        name: KeyName,
    },
    /// Put a new key in the place of one, and print it
    Rotate {
        /// What it is called
        #[arg(default_value_t = KeyName::DEFAULT)]
        name: KeyName,
    },
}

#[derive(Debug, Args)]
struct ListOptions {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A key that was made, and that nobody has seen.
#[derive(Debug, thiserror::Error)]
#[error(
    "the new key of {name} could not be printed ({source}); `codex-completions key rotate {name}` makes another"
)]
struct Unseen {
    name: KeyName,
    source: io::Error,
}

pub(crate) fn run(options: KeyOptions, settings: &Settings) -> Result<ExitCode, Box<dyn Error>> {
    match options.task {
        KeyTask::Add { name } => {
            let mut keys = open(settings)?;
            let secret = keys.add(name.clone())?;
            print(name, &secret, settings)?;
        }
        KeyTask::List(options) => list(&options, settings)?,
        KeyTask::Revoke { name } => {
            open(settings)?.revoke(&name)?;
            writeln!(console::stdout(), "{name} is revoked.")?;
        }
        KeyTask::Rotate { name } => {
            let secret = rotate(&name, settings)?;
            print(name, &secret, settings)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn open(settings: &Settings) -> Result<NamedKeys, KeyChangeError> {
    let keys = NamedKeys::open(settings)?;
    warn(&keys.warnings);
    Ok(keys)
}

fn rotate(name: &KeyName, settings: &Settings) -> Result<SecretString, Box<dyn Error>> {
    if *name != KeyName::DEFAULT {
        return Ok(open(settings)?.rotate(name)?);
    }
    let key = ApiKey::rotate(settings).map_err(|error| match error {
        KeyChangeError::Given => {
            format!("{error} (from: {})", settings.values.source(&PROXY_API_KEY)).into()
        }
        error => Box::<dyn Error>::from(error),
    })?;
    warn(&key.warnings);
    Ok(key.secret)
}

/// The key alone on standard output, so that it can be captured.
fn print(name: KeyName, secret: &SecretString, settings: &Settings) -> Result<(), Unseen> {
    let place = if name == KeyName::DEFAULT {
        format!("kept in {}", ApiKey::file(settings).display())
    } else {
        "shown only here".to_owned()
    };
    let note = format!("This is the new key of {name}, {place}. Clients send it as bearer key.");
    match writeln!(console::stdout(), "{}", secret.expose_secret()) {
        Ok(()) => {
            // Whether anybody reads it does not matter to the key.
            let _ = writeln!(console::stderr(), "{note}");
            Ok(())
        }
        Err(source) => Err(Unseen { name, source }),
    }
}

fn list(options: &ListOptions, settings: &Settings) -> Result<(), Box<dyn Error>> {
    let values = &settings.values;
    let Keys { keys, warnings } = Keys::list(settings)?;
    warn(&warnings);
    let out = console::stdout();
    if options.json {
        let keys: Vec<_> = keys.iter().map(|key| to_json(key, values)).collect();
        writeln!(out, "{:#}", json!({"keys": keys}))?;
        return Ok(());
    }
    let width = keys.iter().map(|key| key.name.as_str().len()).max().unwrap_or(0);
    for key in &keys {
        let since = key.since.map_or_else(|| "-".to_owned(), |since| since.to_string());
        writeln!(out, "{:width$}  {since:20}  {}", key.name, kept(key, values))?;
    }
    if !keys.iter().any(|key| key.name == KeyName::DEFAULT) {
        writeln!(
            console::stderr(),
            "There is no default key yet: the first start of `serve` makes it."
        )?;
    }
    Ok(())
}

fn to_json(key: &Key, values: &Values) -> Value {
    json!({
        "id": key.id.as_str(),
        "name": key.name.as_str(),
        "since": key.since.map(|since| since.to_string()),
        "kept": kept(key, values),
    })
}

fn kept(key: &Key, values: &Values) -> String {
    match &key.kept {
        Kept::Setting => format!("PROXY_API_KEY (from: {})", values.source(&PROXY_API_KEY)),
        Kept::Whole(file) => file.display().to_string(),
        Kept::Digest(file) => format!("{} (a hash of it)", file.display()),
    }
}

fn warn(warnings: &[Warning]) {
    for warning in warnings {
        tracing::warn!("{warning}");
    }
}
