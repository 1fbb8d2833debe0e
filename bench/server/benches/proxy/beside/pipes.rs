//! The way without any server: as many children as clients, each played with over its own pipes.

use std::thread;
use std::time::Instant;

use codex_app_server::CodexBinary;
use tempfile::TempDir;
use testkit::workspace_program;
use tokio::runtime::Runtime;

use crate::case::Case;
use crate::direct::Direct;
use crate::figures::micros;
use crate::recording::{Play, Recording};

use super::volley::{Seen, Spell, Volley};

/// Clients with a child each.
pub(crate) struct Pipes {
    clients: Vec<Direct>,
    plays: Vec<Play>,
    _home: TempDir,
}

// === impl Pipes ===

impl Pipes {
    /// So many clients that can play each of these cases.
    pub(crate) fn start(runtime: &Runtime, cases: &[Case], clients: usize) -> Self {
        let home = tempfile::tempdir().expect("no temporary folder");
        let child = &workspace_program("scripted-app-server");
        let binary = runtime.block_on(CodexBinary::at(child)).expect("no scripted app-server");
        let recording = runtime.block_on(Recording::make(&binary, home.path(), cases));
        let clients = (0..clients).map(|_| Direct::start(&recording)).collect();
        Self { clients, plays: recording.plays, _home: home }
    }

    /// The same as a volley of requests, of the case with that number.
    pub(crate) fn fly(&mut self, volley: &Volley<'_>, number: usize) -> Vec<Seen> {
        let play = &self.plays[number];
        let started = Instant::now();
        thread::scope(|scope| {
            let clients = (0_u32..).zip(&mut self.clients).take(volley.clients);
            let playing: Vec<_> = clients
                .map(|(place, client)| {
                    let begin = started + volley.stagger * place;
                    scope.spawn(move || client_of(client, play, volley, begin))
                })
                .collect();
            let seen = playing.into_iter().map(|client| client.join().expect("a direct client"));
            seen.flatten().collect()
        })
    }
}

fn client_of(client: &mut Direct, play: &Play, volley: &Volley<'_>, begin: Instant) -> Vec<Seen> {
    thread::sleep(begin.saturating_duration_since(Instant::now()));
    let mut all = Vec::new();
    loop {
        let mut seen = Seen::default();
        let started = Instant::now();
        let on_delta = &mut || seen.words.push(micros(started.elapsed()));
        let answer = client.watched_turn(play, on_delta);
        seen.whole = micros(started.elapsed());
        volley.case.check_direct(&answer);
        all.push(seen);
        match volley.spell {
            Spell::For(time) if begin.elapsed() < time => {}
            _ => break,
        }
    }
    client.settle(play);
    all
}
