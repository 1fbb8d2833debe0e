//! `config`: every setting, and where it comes from.

use std::error::Error;
use std::process::ExitCode;

use configuration::{DefaultValue, Effective, Values, Warning};
use serde_json::{Map, Value, json};

use crate::cli::ConfigOptions;
use crate::console;

pub(crate) fn run(
    options: &ConfigOptions,
    values: &Values,
    warnings: &[Warning],
) -> Result<ExitCode, Box<dyn Error>> {
    if options.json {
        writeln!(console::stdout(), "{:#}", to_json(values, warnings))?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<_> = values.iter().map(|setting| (assignment(&setting), setting)).collect();
    let width = lines.iter().map(|(assignment, _)| assignment.chars().count()).max().unwrap_or(0);
    let out = console::stdout();
    for (assignment, setting) in &lines {
        writeln!(out, "{assignment:width$}  {}", origin(setting))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn assignment(setting: &Effective) -> String {
    format!("{}={}", setting.variable.name, setting.value.as_deref().unwrap_or_default())
}

/// What is not set at all still does something.
fn origin(setting: &Effective) -> String {
    match (&setting.value, setting.variable.default) {
        (None, DefaultValue::Unset(words)) => format!("default: {}", words.replace('`', "")),
        _ => setting.source.to_string(),
    }
}

fn to_json(values: &Values, warnings: &[Warning]) -> Value {
    let setting = |setting: Effective| {
        let value = json!({"value": setting.value, "source": setting.source.to_string()});
        (setting.variable.name.to_owned(), value)
    };
    let settings: Map<_, _> = values.iter().map(setting).collect();
    let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    json!({"settings": settings, "warnings": warnings})
}
