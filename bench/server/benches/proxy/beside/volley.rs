//! Requests of many clients at once, and when what of each answer was there.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use memchr::memmem;
use testkit::http::{Connection, Gone};
use tokio::runtime::Runtime;

use crate::case::{Case, WORD};
use crate::endpoint::Endpoint;
use crate::figures::micros;

/// Most that a client receives at once.
const RECEIVED: usize = 64 * 1024;

/// Nobody is waited for longer.
const LIMIT: Duration = Duration::from_mins(2);

/// How long each client asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spell {
    Once,
    /// One request after the other, until the time is over.
    For(Duration),
}

/// One answer, in microseconds since its request was sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// When each word of the text was there.
    pub(crate) words: Vec<f64>,
    /// When all of it was.
    pub(crate) whole: f64,
    pub(crate) wire_bytes: usize,
}

/// Clients that ask all at once, each on a connection of its own.
#[derive(Clone, Copy)]
pub(crate) struct Volley<'a> {
    pub(crate) case: &'a Case,
    pub(crate) clients: usize,
    pub(crate) spell: Spell,
    /// Between the starts of two clients.
    pub(crate) stagger: Duration,
}

/// What a client has to be judged by, once the clock is not looked at any more.
struct Unjudged {
    seen: Seen,
    status: u16,
    body: Vec<u8>,
}

// === impl Volley ===

impl<'a> Volley<'a> {
    pub(crate) fn new(case: &'a Case, clients: usize, spell: Spell) -> Self {
        Self { case, clients, spell, stagger: Duration::ZERO }
    }

    /// Every answer and the time until the last; or what is wrong with one of them.
    pub(crate) fn fly(
        &self,
        runtime: &Runtime,
        endpoint: &Endpoint,
    ) -> Result<(Vec<Seen>, Duration), String> {
        let request = endpoint.request(self.case);
        let (answers, time) = runtime.block_on(async {
            let connecting = (0..self.clients).map(|_| Connection::open(endpoint.address));
            let connections = try_join_all(connecting).await.map_err(|error| error.to_string())?;
            let started = Instant::now();
            let asking = (0_u32..).zip(connections).map(|(place, connection)| {
                let begin = started + self.stagger * place;
                ask(connection, &request, begin, self.spell)
            });
            let answers = tokio::time::timeout(LIMIT, try_join_all(asking)).await;
            let answers = answers.map_err(|_| format!("no answer within {} s", LIMIT.as_secs()))?;
            answers.map(|answers| (answers, started.elapsed()))
        })?;
        // Judging takes the processor from whoever is measured: it comes last.
        let answers = answers.into_iter().flatten();
        let seen = answers.map(|Unjudged { seen, status, body }| {
            endpoint.verdict(self.case, status, &body).map(|()| seen)
        });
        Ok((seen.collect::<Result<_, _>>()?, time))
    }
}

/// One client.
async fn ask(
    mut connection: Connection,
    request: &[u8],
    begin: Instant,
    spell: Spell,
) -> Result<Vec<Unjudged>, String> {
    let broken = |gone: Gone| format!("a broken connection: {gone}");
    if begin > Instant::now() {
        tokio::time::sleep_until(begin.into()).await;
    }
    let word = memmem::Finder::new(WORD);
    let mut answers = Vec::new();
    loop {
        let mut seen = Seen::default();
        // Up to here words were looked for.
        let mut looked = 0;
        let started = Instant::now();
        connection.begin(request).await.map_err(broken)?;
        loop {
            let is_whole = connection.receive(RECEIVED).await.map_err(broken)?;
            let at = micros(started.elapsed());
            let body = &connection.response().body;
            let found = word.find_iter(&body[looked..]).count();
            seen.words.extend(std::iter::repeat_n(at, found));
            // A word may have come in part.
            looked = looked.max(body.len().saturating_sub(WORD.len() - 1));
            if is_whole {
                seen.whole = at;
                break;
            }
        }
        let response = connection.response();
        seen.wire_bytes = response.wire_bytes;
        let (status, body) = (response.status, response.body.clone());
        answers.push(Unjudged { seen, status, body });
        match spell {
            Spell::For(time) if begin.elapsed() < time => {}
            _ => return Ok(answers),
        }
    }
}
