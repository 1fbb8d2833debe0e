//! `scripted-model`: the scripted Responses API server as a program of its own.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser;
use scripted_model::{ScriptedModel, scenario_list};

/// Plays scenarios as a Responses API server on 127.0.0.1.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The port to listen on; 0 lets the system choose one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Be the upstream of a gateway: chat completions and whole answers too, events complete.
    #[arg(long)]
    for_gateways: bool,
    /// Print the scenarios and stop.
    #[arg(long)]
    list: bool,
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::disallowed_methods, reason = "its reader is a program")]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With stderr gone as well there is nobody left to tell.
            let _ = writeln!(io::stderr(), "scripted-model: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "its reader is a program")]
async fn run(arguments: &Arguments) -> io::Result<()> {
    if arguments.list {
        return io::stdout().write_all(scenario_list().as_bytes());
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let model = if arguments.for_gateways {
        ScriptedModel::for_gateways(address).await?
    } else {
        ScriptedModel::bind(address).await?
    };
    writeln!(io::stdout(), "{}", model.base_url())?;
    model.wait().await;
    Ok(())
}
