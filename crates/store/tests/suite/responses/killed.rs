//! A server that is killed at any moment has lost nothing that it acknowledged.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use store::{Conversation, Store, StoredResponse};
use tokio::task::JoinSet;

use super::{found, item, response};
use crate::folder::{Folder, turn};

const INSIDE: &str = "responses::killed::keeps_until_it_is_killed";
const DATABASE: &str = "TEST_DATABASE";
const ROUND: &str = "TEST_ROUND";
const ROUNDS: usize = 25;

/// From a few bytes to many pages.
fn numbered(id: &str) -> StoredResponse {
    let number = id.rsplit('_').next().unwrap().parse::<usize>().unwrap();
    let text = id.repeat((number * 37) % 3_000);
    StoredResponse { output: vec![item("a", &text), item("b", id)], ..response(id, None) }
}

/// Runs in a process of its own. Says the id of each response once it is acknowledged, and `-` before
/// that of one whose deletion is.
#[tokio::test]
#[ignore = "the other test starts it"]
#[expect(clippy::disallowed_methods, reason = "its reader is a program")]
async fn keeps_until_it_is_killed() {
    let store = Store::open(&PathBuf::from(std::env::var_os(DATABASE).unwrap())).unwrap();
    let round = std::env::var(ROUND).unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        let (store, round) = (store.clone(), round.clone());
        writers.spawn(async move {
            let responses = store.responses();
            let say = |said: String| {
                let mut output = std::io::stdout().lock();
                output.write_all(format!("{said}\n").as_bytes()).unwrap();
                output.flush().unwrap();
            };
            for number in 0_usize.. {
                let id = format!("resp_{round}_{writer}_{number}");
                store.usage().record(turn(&id));
                responses.keep(numbered(&id)).await.unwrap();
                say(format!("kept {id}"));
                if number % 5 == 4 {
                    let id = format!("resp_{round}_{writer}_{}", number - 3);
                    // Before, because nobody knows what becomes of one that is cut short.
                    say(format!("deleting {id}"));
                    assert!(responses.delete("default", &id).await.unwrap());
                    say(format!("deleted {id}"));
                }
            }
        });
    }
    writers.join_all().await;
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_by_a_kill() {
    let folder = Folder::new();
    drop(folder.open());
    let mut kept = Vec::new();
    let mut deleting = Vec::new();
    let mut deleted = Vec::new();
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", INSIDE, "--ignored", "--nocapture"])
            .env(DATABASE, folder.path())
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Somewhere else in each round, and in the middle of whatever it does then.
        let until = 1 + round * 13 % 97;
        let mut take = |line: &str| match line.split_once(' ') {
            Some(("kept", id)) => kept.push(id.to_owned()),
            Some(("deleting", id)) => deleting.push(id.to_owned()),
            Some(("deleted", id)) => deleted.push(id.to_owned()),
            _ => {}
        };
        lines.by_ref().take(until).for_each(|line| take(&line.unwrap()));
        child.kill().unwrap();
        // A line that is cut short is not an acknowledgement.
        lines.map_while(Result::ok).for_each(|line| take(&line));
        child.wait().unwrap();
    }
    println!("{} were kept and {} deleted in {ROUNDS} rounds", kept.len(), deleted.len());
    assert!(kept.len() > ROUNDS, "{}", kept.len());

    let database = folder.other();
    let integrity: String =
        database.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
    let responses = folder.open().responses();
    for id in &kept {
        let response = numbered(id);
        let told = responses.find("default", id).await.unwrap();
        if deleted.contains(id) {
            assert_eq!(told, None);
        } else if !deleting.contains(id) {
            assert_eq!(told, found(&response));
            let said = [response.input, response.output].concat();
            let conversation = responses.conversation("default", id).await.unwrap();
            assert_eq!(conversation, Conversation::Whole(said));
        }
    }
    // The sums are those of what is there.
    let counted: (i64, i64) = database
        .query_row("SELECT COUNT(*), SUM(bytes) FROM responses", (), |row| row.try_into())
        .unwrap();
    let held = responses.held().await.unwrap();
    assert_eq!((held.responses.cast_signed(), held.bytes.cast_signed()), counted);
}
