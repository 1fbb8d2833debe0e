//! `models`: what can be asked, and under which names.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use codex_app_server::{Model, ModelAliases};
use configuration::Settings;

use crate::account;
use crate::cli::ModelsOptions;
use crate::codex;
use crate::console;
use crate::progress;

pub(crate) async fn run(
    options: &ModelsOptions,
    settings: Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let client = codex::start_client(&settings).await?;
    let models = progress::during("Asking Codex for its models", client.models()).await;
    client.shutdown().await;
    let models = models.map_err(|error| account::plain(&error))?;
    let default = codex::default_model(&settings, &models)?;
    if options.json {
        writeln!(
            console::stdout(),
            "{:#}",
            server::describe_models(&models, &settings.codex.aliases, Some(&default))
        )?;
    } else {
        print(&models, &settings.codex.aliases, &default)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(models: &[Model], aliases: &ModelAliases, default: &str) -> io::Result<()> {
    let out = console::stdout();
    let shown = || models.iter().filter(|model| !model.hidden);
    let names = shown().map(|model| model.id.as_str()).chain(aliases.iter().map(|(name, _)| name));
    let width = names.map(str::len).max().unwrap_or(0);
    for model in shown() {
        let mark = if model.id == default { " (default)" } else { "" };
        let description = &model.description;
        writeln!(out, "{:width$}  {description}{mark}", model.id)?;
        writeln!(out, "{:width$}  reasoning: {}", "", efforts(model).join(", "))?;
    }
    writeln!(out, "\nOther names:")?;
    for (name, _) in aliases.iter() {
        let resolved = aliases.resolve(name, default);
        let effort = resolved.effort.map(|effort| format!(", effort {effort}")).unwrap_or_default();
        writeln!(out, "{name:width$}  {}{effort}", resolved.model)?;
    }
    Ok(())
}

fn efforts(model: &Model) -> Vec<&str> {
    let efforts = &model.supported_reasoning_efforts;
    efforts.iter().map(|option| option.reasoning_effort.as_str()).collect()
}
