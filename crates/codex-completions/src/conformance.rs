//! `conformance`: any OpenAI-compatible server, held against what real clients depend on.

use std::error::Error;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use conformance::{Ink, Plan, Report, ScriptedUpstream, Selection, Server, Standing};

use crate::cli;
use crate::console;

/// Where OpenAI's own clients look for a key, and the only host that it is for.
const KEY_VARIABLE: &str = "OPENAI_API_KEY";
const KEY_IS_FOR: &str = "https://api.openai.com";

/// Nothing could be tested, so nothing was shown.
const UNABLE: u8 = 2;

#[derive(Debug, Args)]
pub(crate) struct ConformanceOptions {
    /// Base URL of the server, as clients are given it
    #[arg(long, value_name = "URL")]
    base_url: String,
    /// API key of the server [default: none; for api.openai.com `OPENAI_API_KEY`]
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// The same, in an environment variable, where other users of the machine do not see it
    #[arg(long, value_name = "NAME", conflicts_with = "api_key")]
    api_key_env: Option<String>,
    /// Model to ask [default: the first that the server lists and that can be talked to]
    #[arg(long)]
    model: Option<String>,
    /// A header to send with every request, instead of one of the same name; several times
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// The model behind the server is our scripted one, as `demo` is: its exact words are compared
    #[arg(long)]
    scripted: bool,
    /// The same, and its own URL: also looks at what became of its requests
    #[arg(long, value_name = "URL")]
    scripted_url: Option<String>,
    /// Test only this rule, or those that begin so (`chat-*`); can be given several times
    #[arg(long, value_name = "RULE")]
    only: Vec<Selection>,
    /// How many seconds an answer may take, from the connection to its end
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the report as a page, too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn run(options: &ConformanceOptions) -> Result<ExitCode, Box<dyn Error>> {
    match test(options) {
        Ok(report) => tell(options, &report),
        Err(error) => {
            cli::complain(&*error);
            Ok(ExitCode::from(UNABLE))
        }
    }
}

fn tell(options: &ConformanceOptions, report: &Report) -> Result<ExitCode, Box<dyn Error>> {
    let out = console::stdout();
    if options.json {
        writeln!(out, "{:#}", report.to_json())?;
    } else {
        for (ink, text) in report.to_styled_text() {
            out.write_styled(style(ink), &text)?;
        }
    }
    Ok(match report.standing() {
        Standing::Passed => ExitCode::SUCCESS,
        Standing::Failed => ExitCode::FAILURE,
        Standing::NotTested => {
            cli::complain(&*Box::<dyn Error>::from("a rule that was asked for was not tested"));
            ExitCode::from(UNABLE)
        }
    })
}

fn style(ink: Ink) -> Style {
    match ink {
        Ink::Plain => Style::new(),
        Ink::Bold => Style::new().bold(),
        Ink::Faint => Style::new().dimmed(),
        Ink::Green => AnsiColor::Green.on_default(),
        Ink::Yellow => AnsiColor::Yellow.on_default(),
        Ink::Red => AnsiColor::Red.on_default(),
    }
}

fn test(options: &ConformanceOptions) -> Result<Report, Box<dyn Error>> {
    let limit = Duration::from_secs(options.timeout);
    let mut server = Server::parse(&options.base_url, key(options)?)?.answering_within(limit);
    for header in &options.headers {
        server = server.with_header(header)?;
    }
    let upstream = match (&options.scripted_url, options.scripted) {
        (Some(url), _) => ScriptedUpstream::Controlled(Server::parse(url, None)?.into()),
        (None, true) => ScriptedUpstream::Marks,
        (None, false) => ScriptedUpstream::Unknown,
    };
    let model = options.model.clone();
    let plan = Plan { server, model, upstream, only: options.only.clone() };
    // A run takes minutes, and may cost tokens: nobody wants to learn behind it that it was in vain.
    let page = options.html.as_deref().map(open).transpose()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(conformance::run(&plan))?;
    if let Some((path, mut page)) = page {
        let written = page.set_len(0).and_then(|()| page.write_all(report.to_html().as_bytes()));
        written.map_err(|error| cannot_write(path, &error))?;
    }
    Ok(report)
}

/// Nobody's key is sent to a host that it was not meant for.
fn key(options: &ConformanceOptions) -> Result<Option<String>, Box<dyn Error>> {
    let key = match (&options.api_key, &options.api_key_env) {
        (Some(key), _) => Some(key.clone()),
        (None, Some(name)) => {
            let key = std::env::var(name).map_err(|error| format!("{name}: {error}"))?;
            Some(key)
        }
        (None, None) if is_openai(&options.base_url) => std::env::var(KEY_VARIABLE).ok(),
        (None, None) => None,
    };
    Ok(key.filter(|key| !key.is_empty()))
}

fn is_openai(url: &str) -> bool {
    url.strip_prefix(KEY_IS_FOR).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Without taking away what is in it, which is the last report until there is a new one.
fn open(path: &Path) -> Result<(&Path, File), String> {
    let file = File::options().write(true).create(true).truncate(false).open(path);
    file.map(|file| (path, file)).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_openai_is_for_openai() {
        for url in ["https://api.openai.com/v1", "https://api.openai.com"] {
            assert!(is_openai(url), "{url}");
        }
        for url in [
            "http://api.openai.com/v1",
            "https://api.openai.com.example/v1",
            "https://api.openai.com@example/v1",
            "https://api.openai.com:8443/v1",
            "http://127.0.0.1:4000/v1",
        ] {
            assert!(!is_openai(url), "{url}");
        }
    }
}
