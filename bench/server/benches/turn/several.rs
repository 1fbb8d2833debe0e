//! Many turns at once, on one child and on several.

use std::time::Instant;

use codex_app_server::{ClientConfig, CodexBinary, Pool, PoolConfig, WorkerState};
use testkit::Outcome;
use tokio::task::JoinSet;

use crate::figures::Figures;
use crate::model::{Model, TEXT};
use crate::way::{millis, request};

/// How many children.
const POOLS: [usize; 2] = [1, 2];

const CLIENTS: [usize; 3] = [1, 4, 16];

/// How often each of them has its turn.
const ROUNDS: usize = 4;

pub(crate) async fn measure(codex: &CodexBinary, model: &Model, turns: usize) {
    let mut pools = Vec::new();
    for children in POOLS {
        let home = tempfile::tempdir().expect("no temporary folder");
        let mut config = PoolConfig::new(ClientConfig::new(codex.clone(), home.path()));
        config.workers = children;
        let pool = Pool::start(config);
        let is_ready = |state: &WorkerState| matches!(state, WorkerState::Ready { .. });
        let mut states = pool.states();
        states.wait_for(|states| states.iter().all(is_ready)).await.expect("no children");
        drop(states);
        pools.push((pool, home));
    }
    println!("{turns} turns a row, clients that ask again at once\n");
    println!("| clients | children | turns/s | p50 ms | p90 ms |");
    println!("|---|---|---|---|---|");
    for clients in CLIENTS {
        let mut rows: Vec<(Vec<f64>, f64)> = vec![(Vec::new(), 0.0); POOLS.len()];
        for _ in 0..ROUNDS {
            for ((pool, _), (times, seconds)) in pools.iter().zip(&mut rows) {
                let started = Instant::now();
                times.extend(run(pool, model, clients, turns / ROUNDS).await);
                *seconds += started.elapsed().as_secs_f64();
            }
        }
        for (children, (times, seconds)) in POOLS.into_iter().zip(rows) {
            #[allow(clippy::cast_precision_loss, reason = "a few hundred turns")]
            let per_second = times.len() as f64 / seconds;
            let times: Figures = times.into_iter().collect();
            println!(
                "| {clients} | {children} | {per_second:.0} | {:.1} | {:.1} |",
                times.median(),
                times.percentile(90)
            );
        }
    }
    for (pool, _home) in pools {
        pool.shutdown().await;
    }
}

/// So many turns in all, and how long each took.
async fn run(pool: &Pool, model: &Model, clients: usize, turns: usize) -> Vec<f64> {
    let mut running = JoinSet::new();
    for _ in 0..clients {
        let (pool, request) = (pool.clone(), request(model));
        running.spawn(async move {
            let mut times = Vec::new();
            for _ in 0..turns / clients {
                let started = Instant::now();
                let turn = pool.start_turn(request.clone()).expect("an invalid turn");
                assert_eq!(Outcome::of(turn).await.text, TEXT, "a wrong answer");
                times.push(millis(started.elapsed()));
            }
            times
        });
    }
    running.join_all().await.concat()
}
