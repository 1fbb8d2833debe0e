//! `conformance`: any OpenAI-compatible server, held against what real clients depend on.

use std::error::Error;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use conformance::{Look, Plan, Report, RuleId, ScriptedUpstream, Server};

use crate::cli;

/// Where OpenAI's own clients look for it.
const KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// Nothing could be tested, so nothing was shown.
const UNABLE: u8 = 2;

#[derive(Debug, Args)]
pub(crate) struct ConformanceOptions {
    /// Base URL of the server, as clients are given it
    #[arg(long, value_name = "URL")]
    base_url: String,
    /// API key of the server [default: `OPENAI_API_KEY`, or none]
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// Model to ask [default: the first that the server lists]
    #[arg(long)]
    model: Option<String>,
    /// A header to send with every request; can be given several times
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// The model behind the server is our scripted one, as `demo` is: its exact words are compared
    #[arg(long)]
    scripted: bool,
    /// The same, and its own URL: also looks at what became of its requests
    #[arg(long, value_name = "URL")]
    scripted_url: Option<String>,
    /// Test only this rule; can be given several times
    #[arg(long, value_name = "RULE")]
    only: Vec<RuleId>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the report as a page, too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn run(options: &ConformanceOptions) -> Result<ExitCode, Box<dyn Error>> {
    let report = match test(options) {
        Ok(report) => report,
        Err(error) => {
            cli::complain(&*error);
            return Ok(ExitCode::from(UNABLE));
        }
    };
    let mut out = std::io::stdout();
    if options.json {
        writeln!(out, "{:#}", report.to_json())?;
    } else {
        let look = if out.is_terminal() { Look::Coloured } else { Look::Plain };
        write!(out, "{}", report.to_text(look))?;
    }
    if let Some(file) = &options.html {
        std::fs::write(file, report.to_html())
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    Ok(if report.has_passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn test(options: &ConformanceOptions) -> Result<Report, Box<dyn Error>> {
    let key = options.api_key.clone().or_else(|| std::env::var(KEY_VARIABLE).ok());
    let key = key.filter(|key| !key.is_empty());
    let mut server = Server::parse(&options.base_url, key)?;
    for header in &options.headers {
        server = server.with_header(header)?;
    }
    let upstream = match (&options.scripted_url, options.scripted) {
        (Some(url), _) => ScriptedUpstream::Controlled(Server::parse(url, None)?),
        (None, true) => ScriptedUpstream::Marks,
        (None, false) => ScriptedUpstream::Unknown,
    };
    let model = options.model.clone();
    let plan = Plan { server, model, upstream, only: options.only.clone() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(conformance::run(&plan))?)
}
