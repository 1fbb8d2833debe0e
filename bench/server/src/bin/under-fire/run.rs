//! One run: the server, its clients, and everything that befalls them.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use testkit::server_process::Target;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::aftermath;
use crate::client::{Client, Ended};
use crate::incident::{Incident, Trouble};
use crate::sampling::{self, Sample};
use crate::server::{Kind, Server};
use crate::story::{Act, Ask, Stories, Story};
use crate::tally::{PROBE, Probe, SharedTally, Tally};

/// The longest that any request may take, whatever happens to the child: a turn waits 5 seconds in the
/// queue and 10 for a child, one that hangs is noticed after 15, and the longest answer takes 12.
const BOUND: Duration = Duration::from_mins(1);

/// Turns at once unless told, for a while in the middle of the run: most clients find no room then.
const FEW_TURNS: u32 = 16;

const PROBE_EVERY: Duration = Duration::from_secs(1);

/// A run that is shorter has no time for a child that hangs.
const LONG: Duration = Duration::from_mins(1);

/// What is to be done.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) kind: Kind,
    pub(crate) streams: usize,
    pub(crate) time: Duration,
    pub(crate) seed: u64,
    pub(crate) server: PathBuf,
    pub(crate) codex: PathBuf,
}

/// What was seen.
pub(crate) struct Seen {
    pub(crate) tally: Tally,
    pub(crate) incidents: Vec<Incident>,
    pub(crate) samples: Vec<Sample>,
    /// Before the load and after it.
    pub(crate) before: Sample,
    pub(crate) after: Option<Sample>,
    /// While few turns ran at once.
    pub(crate) narrow: (Instant, Instant),
    pub(crate) took: Duration,
    pub(crate) restarts: u64,
}

// === impl Plan ===

impl Plan {
    /// Whether there is time for everything that can happen.
    pub(crate) fn is_long(&self) -> bool {
        self.time >= LONG
    }

    /// A word takes up to 40 milliseconds, and more with the real Codex.
    fn most_words(&self) -> u32 {
        match self.kind {
            Kind::Scripted if self.is_long() => 300,
            Kind::Scripted | Kind::Real => 60,
        }
    }

    /// So many that nobody ever waits: a client asks for two at most.
    pub(crate) fn many_turns(&self) -> u32 {
        u32::try_from(self.streams * 2 + 100).unwrap_or(u32::MAX)
    }

    pub(crate) async fn run(&self) -> io::Result<Seen> {
        let server = Server::start(&self.server, &self.codex, self.kind, self.many_turns()).await?;
        let tally = Arc::<SharedTally>::default();
        let probe = Target { key: server.probe_key.clone(), ..server.target.clone() };
        warm_up(&probe).await.map_err(io::Error::other)?;
        let before = aftermath::settled(&server).await.map_err(io::Error::other)?;
        let started = Instant::now();
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        for client in 0..self.streams {
            let stories = Stories::new(self.seed, client, self.most_words());
            let client = Client::new(server.target.clone());
            tasks.spawn(live(client, stories, Arc::clone(&tally), stop.clone()));
        }
        tasks.spawn(ask_every_second(probe, self.seed, Arc::clone(&tally), stop.clone()));
        let incidents = Arc::<Mutex<Vec<Incident>>>::default();
        let trouble = Trouble {
            server: server.pid,
            target: server.target.clone(),
            dice: fastrand::Rng::with_seed(self.seed ^ 1),
            pauses: if self.is_long() { 3_000..9_000 } else { 1_000..3_000 },
            may_hang: self.is_long(),
        };
        let (told, list) = (Arc::clone(&tally), Arc::clone(&incidents));
        tasks.spawn(trouble.cause(stop.clone(), move |incident| match incident {
            Ok(incident) => list.lock().unwrap_or_else(PoisonError::into_inner).push(incident),
            Err(wrong) => {
                told.with(|tally| tally.violate("a lost child comes back", "child", wrong));
            }
        }));
        let sampling = {
            let (target, stop, pid) = (server.target.clone(), stop.clone(), server.pid);
            let mut sampling = JoinSet::new();
            sampling.spawn(async move { sampling::sample(pid, &target, &stop).await });
            sampling
        };
        let narrow = self.let_time_pass(&server).await?;
        stop.cancel();
        // Everybody ends what he has begun, within the bound.
        while let Some(ended) = tasks.join_next().await {
            ended?;
        }
        let took = started.elapsed();
        let (samples, wrong) = sampling.join_all().await.into_iter().next().unwrap_or_default();
        let tally =
            Arc::into_inner(tally).ok_or_else(|| io::Error::other("somebody still counts"))?;
        let incidents =
            std::mem::take(&mut *incidents.lock().unwrap_or_else(PoisonError::into_inner));
        let mut seen = Seen {
            tally: tally.into_inner(),
            incidents,
            samples,
            before,
            after: None,
            narrow,
            took,
            restarts: 0,
        };
        for wrong in wrong {
            seen.tally.violate("nobody waits for ever", "/metrics", wrong);
        }
        aftermath::check(&mut seen, self, server).await?;
        Ok(seen)
    }

    /// The run itself, with a while in which few turns run at once. Memory is compared before and
    /// after that: in the second quarter and the last.
    async fn let_time_pass(&self, server: &Server) -> io::Result<(Instant, Instant)> {
        tokio::time::sleep(self.time.mul_f64(0.5)).await;
        let from = Instant::now();
        server.allow_turns(FEW_TURNS)?;
        tokio::time::sleep(self.time.mul_f64(0.2)).await;
        server.allow_turns(self.many_turns())?;
        let to = Instant::now();
        tokio::time::sleep(self.time.mul_f64(0.3)).await;
        Ok((from, to))
    }
}

/// A client that plays one story after the other.
async fn live(
    mut client: Client,
    mut stories: Stories,
    tally: Arc<SharedTally>,
    stop: CancellationToken,
) {
    // Not all at the same moment.
    let first = Duration::from_millis(stories.dice.u64(..1_000));
    tokio::time::sleep(first).await;
    while !stop.is_cancelled() {
        let story = stories.next();
        let manner = match &story.act {
            Act::Ask(ask) if !ask.streamed && ask.manner == crate::story::Manner::Patient => {
                "patient, not streamed"
            }
            Act::Ask(ask) => ask.manner.as_str(),
            Act::Mischief(_) => "mischief",
            Act::Look(_) => "looks",
        };
        let from = Instant::now();
        let ended = within_bound(client.play(&story)).await;
        let rest = match &ended {
            Ok(Ended::Failed { .. }) => stories.dice.u64(200..1_000),
            Ok(Ended::Refused) => stories.dice.u64(100..500),
            Err(_) => {
                client = client.anew();
                0
            }
            Ok(_) => 0,
        };
        tally.with(|tally| tally.add(manner, &story, from, ended));
        tokio::time::sleep(Duration::from_millis(rest)).await;
    }
}

/// Somebody with a key of his own who asks a small question every second.
async fn ask_every_second(
    target: Target,
    seed: u64,
    tally: Arc<SharedTally>,
    stop: CancellationToken,
) {
    let mut dice = fastrand::Rng::with_seed(seed ^ 2);
    let mut client = Client::new(target);
    for number in 0.. {
        let story = Story { id: format!("probe-{number}"), act: Act::Ask(Ask::probe(&mut dice)) };
        let from = Instant::now();
        let ended = within_bound(client.play(&story)).await;
        let went_well = matches!(ended, Ok(Ended::Whole { .. }));
        if !went_well {
            client = client.anew();
        }
        tally.with(|tally| {
            tally.probes.push(Probe { from, took: from.elapsed(), went_well });
            tally.add(PROBE, &story, from, ended);
        });
        let next = tokio::time::sleep(PROBE_EVERY.saturating_sub(from.elapsed()));
        if stop.run_until_cancelled(next).await.is_none() {
            return;
        }
    }
}

async fn within_bound(
    played: impl Future<Output = Result<Ended, String>>,
) -> Result<Ended, String> {
    let late = |_| format!("no end within {BOUND:?}");
    tokio::time::timeout(BOUND, played).await.map_err(late)?
}

/// What is made once is made before anything is measured.
async fn warm_up(target: &Target) -> Result<(), String> {
    let mut dice = fastrand::Rng::with_seed(0);
    for number in 0..3 {
        let story = Story { id: format!("warm-{number}"), act: Act::Ask(Ask::probe(&mut dice)) };
        let ended = Client::new(target.clone()).play(&story).await?;
        if ended != (Ended::Whole { calls: 0 }) {
            return Err(format!("the first answer: {ended:?}"));
        }
    }
    Ok(())
}
