//! One run: the server with its defaults, the load, and what must hold afterwards.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use server_bench::machine::{self, first_line};
use server_bench::own_process::OwnProcess;
use testkit::server_process::{ServerFolder, Target};
use tokio_util::sync::CancellationToken;

use crate::load::{KEYS, Load};
use crate::record::{RecordFile, Start};
use crate::sampling::Watch;

/// The model that is asked for: Codex knows it, and the scripted one answers.
const MODEL: &str = "gpt-5.5";

/// How long turns whose clients left may take to end.
const END_WITHIN: Duration = Duration::from_secs(20);

/// Between two looks at whether they have.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What is to be done.
pub(crate) struct Plan {
    pub(crate) server: PathBuf,
    pub(crate) codex: PathBuf,
    pub(crate) time: Duration,
    pub(crate) rate: f64,
    pub(crate) seed: u64,
    pub(crate) folder: PathBuf,
}

/// How a run ended, and where its record is.
pub(crate) enum Ran {
    ToItsEnd(PathBuf),
    CutOff(PathBuf),
}

/// A line of the server's log.
#[derive(Deserialize)]
struct LogLine {
    level: String,
}

// === impl Plan ===

impl Plan {
    /// Runs. When the load is cut off, it stops the server, and the record has no end.
    pub(crate) async fn run(&self, cut_off: &CancellationToken) -> io::Result<Ran> {
        let model = OwnProcess::model()?;
        let folder = ServerFolder::new()?;
        let mut keys: [String; 3] = Default::default();
        for (key, name) in keys.iter_mut().zip(KEYS) {
            *key = folder.add_key(&self.server, name)?;
        }
        let settings = [("PROXY_UPSTREAM_BASE_URL", model.address.as_str())];
        let program = Command::new(&self.server);
        let mut server = folder.serve(program, 0, &self.codex, &settings)?;
        let address = server.ready().await?;
        let record = Arc::new(RecordFile::create(&self.folder, self.start())?);
        eprintln!("--seed {}; the record is {}", self.seed, record.path.display());
        let started = Instant::now();
        let load = Load::new(address, &keys, MODEL, Arc::clone(&record), started);
        let log = folder.log_file();
        let watch = Watch {
            pid: server.process.id(),
            target: Target::new(address, &keys[0], MODEL),
            data: folder.data(),
            log: &log,
            started,
        };
        let stop = CancellationToken::new();
        let loaded = async {
            let load = Arc::new(load).run(self.rate, self.time, self.seed);
            let ended = cut_off.run_until_cancelled(load).await;
            stop.cancel();
            ended
        };
        let (ended, ()) = tokio::join!(loaded, watch.watch(&record, &stop));
        if ended.is_none() {
            server.stop().await;
            return Ok(Ran::CutOff(record.path.clone()));
        }
        check_end(&watch, &record).await;
        check_log(&folder, &record)?;
        for wrong in server.stop().await {
            record.wrong(&wrong);
        }
        record.end(started.elapsed());
        Ok(Ran::ToItsEnd(record.path.clone()))
    }

    fn start(&self) -> Start {
        let version = |program: &Path| first_line(&program.to_string_lossy(), &["--version"]);
        Start {
            date: first_line("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
            machine: machine::name(),
            server: version(&self.server),
            codex: version(&self.codex),
            time: self.time,
            rate: self.rate,
            seed: self.seed,
        }
    }
}

/// Nothing runs when nobody asks, and no child was lost.
async fn check_end(watch: &Watch<'_>, record: &RecordFile) {
    let until = Instant::now() + END_WITHIN;
    loop {
        match watch.look().await {
            Ok(sample) if sample.running == 0 => {
                if sample.restarts > 0 {
                    record.wrong(&format!("{} children were lost", sample.restarts));
                }
                return;
            }
            Ok(sample) if Instant::now() > until => {
                return record.wrong(&format!("{} turns still run", sample.running));
            }
            Err(wrong) => return record.wrong(&wrong),
            Ok(_) => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

fn check_log(folder: &ServerFolder, record: &RecordFile) -> io::Result<()> {
    for line in folder.log()?.lines() {
        match serde_json::from_str::<LogLine>(line) {
            Ok(read) if read.level != "ERROR" => {}
            _ => record.wrong(&format!("in the log: {line}")),
        }
    }
    Ok(())
}
