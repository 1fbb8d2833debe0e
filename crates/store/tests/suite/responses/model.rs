//! Whatever is kept, deleted and swept: it is as in a simple model of it.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::sample::Index;
use store::{Conversation, Held, Responses, StoredItem, StoredResponse};
use testkit::until;

use super::{found, item};
use crate::folder::Folder;

const HOUR: Duration = Duration::from_hours(1);
const KEYS: [&str; 2] = ["default", "other"];
const PLENTY: u64 = 1 << 40;

#[derive(Debug, Clone)]
enum Step {
    /// A response of a key, so many hours old, with so many items, that continues any of all that there
    /// ever were, if it continues one.
    Keep {
        key: usize,
        hours: u32,
        items: (usize, usize),
        previous: Option<Index>,
    },
    Delete {
        key: usize,
        response: Index,
    },
    /// Conversations are kept for so many hours, and so many bytes of them.
    KeepWithin {
        hours: u32,
        bytes: u64,
    },
}

/// Every response that was ever kept, and those that are left.
struct Model {
    start: SystemTime,
    ever: Vec<StoredResponse>,
    left: Vec<Kept>,
    /// When each conversation that there ever was was used last.
    used_at: Vec<SystemTime>,
    hours: u32,
    bytes: u64,
}

struct Kept {
    response: StoredResponse,
    conversation: usize,
    /// Whether the one that it continues was there when it was kept.
    is_linked: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let keep = (0..2_usize, 0..100_u32, (0..3_usize, 0..3_usize), any::<Option<Index>>());
    let keep =
        keep.prop_map(|(key, hours, items, previous)| Step::Keep { key, hours, items, previous });
    let delete =
        (0..2_usize, any::<Index>()).prop_map(|(key, response)| Step::Delete { key, response });
    let keep_within =
        (20..120_u32, 0..150_000_u64).prop_map(|(hours, bytes)| Step::KeepWithin { hours, bytes });
    let step = prop_oneof![
        12 => keep,
        4 => delete,
        2 => keep_within,
    ];
    proptest::collection::vec(step, 1..40)
}

fn bytes_of(response: &StoredResponse) -> u64 {
    let items = response.input.iter().chain(&response.output);
    let items: usize = items.map(|item| item.id.len() + item.json.len() + 100).sum();
    (response.id.len() + response.body.len() + 4_196 + items) as u64
}

// === impl Model ===

impl Model {
    fn find(&self, key: &str, id: &str) -> Option<&Kept> {
        self.left.iter().find(|kept| kept.response.key == key && kept.response.id == id)
    }

    /// Says whether there is room for it at all.
    fn keep(&mut self, response: StoredResponse) -> bool {
        let previous = response.previous.as_ref();
        let previous = previous.and_then(|previous| self.find(&response.key, previous));
        let is_linked = previous.is_some();
        let conversation = previous.map(|previous| previous.conversation);
        self.ever.push(response.clone());
        let before = self.left.iter().filter(|kept| Some(kept.conversation) == conversation);
        let before: u64 = before.map(|kept| bytes_of(&kept.response)).sum();
        if before + bytes_of(&response) > self.bytes {
            return false;
        }
        let conversation = conversation.unwrap_or_else(|| {
            self.used_at.push(response.created_at);
            self.used_at.len() - 1
        });
        let used_at = &mut self.used_at[conversation];
        *used_at = response.created_at.max(*used_at);
        self.left.push(Kept { response, conversation, is_linked });
        true
    }

    /// Old conversations go; then of the key that has most the oldest one, until there is little enough.
    fn sweep(&mut self) {
        let oldest = self.start - HOUR * self.hours;
        let used_at = &self.used_at;
        self.left.retain(|kept| used_at[kept.conversation] >= oldest);
        while self.held().bytes > self.bytes {
            let key = KEYS.into_iter().max_by_key(|key| self.held_by(key)).unwrap();
            let of_key = self.left.iter().filter(|kept| kept.response.key == key);
            let conversations = of_key.map(|kept| kept.conversation);
            let first = conversations.min_by_key(|number| (self.used_at[*number], *number));
            self.left.retain(|kept| Some(kept.conversation) != first);
        }
    }

    fn held_by(&self, key: &str) -> u64 {
        let of_key = self.left.iter().filter(|kept| kept.response.key == key);
        of_key.map(|kept| bytes_of(&kept.response)).sum()
    }

    fn held(&self) -> Held {
        Held {
            responses: self.left.len() as u64,
            bytes: self.left.iter().map(|kept| bytes_of(&kept.response)).sum(),
        }
    }

    fn conversation(&self, key: &str, id: &str) -> Conversation {
        let mut said = Vec::<StoredItem>::new();
        let Some(mut kept) = self.find(key, id) else { return Conversation::Unknown };
        loop {
            let response = &kept.response;
            said.splice(..0, [response.input.clone(), response.output.clone()].concat());
            let Some(previous) = &response.previous else { return Conversation::Whole(said) };
            match self.find(key, previous) {
                Some(earlier) if kept.is_linked => kept = earlier,
                _ => return Conversation::Broken { missing: previous.clone() },
            }
        }
    }

    async fn wait_for_sweep(&self, responses: &Responses) {
        let what = format!("{:?}", self.held());
        until(&what, async || responses.held().await.unwrap() == self.held()).await;
    }

    async fn assert_same(&self, responses: &Responses) {
        for id in self.ever.iter().map(|response| &response.id) {
            for key in KEYS {
                let kept = self.find(key, id);
                let expected = kept.and_then(|kept| found(&kept.response));
                assert_eq!(responses.find(key, id).await.unwrap(), expected);
                let said = responses.conversation(key, id).await.unwrap();
                assert_eq!(said, self.conversation(key, id), "{key} {id}");
            }
        }
    }
}

async fn run(steps: Vec<Step>) {
    let folder = Folder::new();
    let store = folder.open();
    let responses = store.responses();
    let start = SystemTime::now();
    let mut model = Model {
        start,
        ever: Vec::new(),
        left: Vec::new(),
        used_at: Vec::new(),
        hours: 1_000_000,
        bytes: PLENTY,
    };
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Keep { key, hours, items, previous } => {
                let of = |side: &str, count| {
                    (0..count).map(|at| item(&format!("{side}-{number}-{at}"), side)).collect()
                };
                let previous = previous.filter(|_| !model.ever.is_empty());
                let response = StoredResponse {
                    id: format!("resp_{number}"),
                    key: KEYS[key].to_owned(),
                    // Half an hour off, so that the clock may go on meanwhile.
                    created_at: start - HOUR * hours - HOUR / 2,
                    previous: previous.map(|previous| previous.get(&model.ever).id.clone()),
                    body: format!("body of {number}"),
                    input: of("in", items.0),
                    output: of("out", items.1),
                };
                let kept = responses.keep(response.clone()).await;
                assert_eq!(kept.is_ok(), model.keep(response), "{kept:?}");
                // Age is looked at when the size makes a sweep necessary, and else later.
                if model.held().bytes > model.bytes {
                    model.sweep();
                }
            }
            Step::Delete { key, response } if !model.ever.is_empty() => {
                let id = response.get(&model.ever).id.clone();
                let was_there = model.find(KEYS[key], &id).is_some();
                assert_eq!(responses.delete(KEYS[key], &id).await.unwrap(), was_there);
                let is_it = |kept: &Kept| kept.response.key == KEYS[key] && kept.response.id == id;
                model.left.retain(|kept| !is_it(kept));
            }
            Step::Delete { .. } => {}
            Step::KeepWithin { hours, bytes } if (hours, bytes) == (model.hours, model.bytes) => {}
            Step::KeepWithin { hours, bytes } => {
                (model.hours, model.bytes) = (hours, bytes);
                responses.keep_within(HOUR * hours, bytes);
                model.sweep();
                // What comes next comes after the sweep.
                store.flush().await;
            }
        }
        model.wait_for_sweep(&responses).await;
    }
    model.assert_same(&responses).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn responses_are_those_of_the_model(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(steps));
    }
}
