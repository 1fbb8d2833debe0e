//! `top`: what a running server does, as it does it.

mod board;
mod feed;
mod screen;

use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use configuration::Settings;
use serde_json::{Value, json};

use crate::cli::TopOptions;
use crate::console;
use crate::signals::Signals;
use crate::target::Target;
use board::{Board, Turn};
use feed::News;
use feed::ServerEvent;
use screen::Screen;

/// How often a screen is looked at; it is drawn if it is another one.
const FRAME_TIME: Duration = Duration::from_millis(200);

/// How it is told.
enum View {
    /// A screen that is drawn anew.
    Screen(Screen),
    /// A line for each turn that ends.
    Lines,
    /// Each event, as a line of JSON.
    Json,
}

pub(crate) async fn run(
    options: &TopOptions,
    settings: &Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let target = Target::choose(&options.server, settings)?;
    let mut board = Board::new(target.base_url.to_string());
    let mut signals = Signals::new()?;
    let mut news = feed::follow(target).await?;
    let mut view = View::choose(options)?;
    let mut frames = tokio::time::interval(FRAME_TIME);
    loop {
        tokio::select! {
            biased;
            () = signals.stop() => break,
            told = news.recv() => match told {
                Some(told) => {
                    view.tell(&told)?;
                    board.take(told);
                }
                None => break,
            },
            _ = frames.tick() => if let View::Screen(screen) = &mut view {
                screen.draw(|width, height| board.lines(width, height, SystemTime::now()))?;
            },
        }
    }
    Ok(ExitCode::SUCCESS)
}

// === impl View ===

impl View {
    fn choose(options: &TopOptions) -> io::Result<Self> {
        Ok(match (options.json, console::stdout().is_terminal()) {
            (true, _) => Self::Json,
            (false, true) => Self::Screen(Screen::open()?),
            (false, false) => Self::Lines,
        })
    }

    /// What is told at once; a screen waits for its next look.
    fn tell(&self, news: &News) -> io::Result<()> {
        match (self, news) {
            (Self::Json, News::Event(ServerEvent { name, data })) => {
                let data: Value = serde_json::from_str(data).unwrap_or_default();
                writeln!(console::stdout(), "{}", json!({"event": name, "data": data}))
            }
            (Self::Lines, News::Event(ServerEvent { name, data })) if name == "turn" => {
                match serde_json::from_str::<Turn>(data) {
                    Ok(turn) if turn.has_ended() => {
                        writeln!(console::stdout(), "{}", turn.line(SystemTime::now()))
                    }
                    _ => Ok(()),
                }
            }
            (Self::Screen(_), _) | (Self::Lines, News::Event(_)) => Ok(()),
            (Self::Json | Self::Lines, News::Lost(reason)) => {
                writeln!(console::stderr(), "The server is gone ({reason}); it is asked again.")
            }
        }
    }
}
