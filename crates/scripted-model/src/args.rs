//! Calls with arguments of any size, in deltas of any size: what the growth of arguments is tested
//! with.

mod arguments;
mod options;

use std::collections::VecDeque;
use std::iter;
use std::sync::Arc;

use serde_json::Value;

use crate::answer::{Answer, Delivery, Script, Step};
use crate::call_events::CallEvents;
use crate::calls::tools_in_turn;
use crate::chunking::Chunking;
use crate::failures::{BEFORE_THE_END, ErrorReply};
use crate::scenario::Scene;
pub use arguments::long_arguments;
use options::{End, ItemIds, Options};

/// How the calls of one response are written.
#[derive(Clone)]
struct Plan {
    mark: Arc<str>,
    bytes: usize,
    delivery: Delivery,
    /// Whether the last call stays without its end.
    breaks_off: bool,
}

/// Plays the calls that the mark's options describe.
pub(crate) fn args(scene: &Scene<'_>) -> Result<Script, ErrorReply> {
    let options = Options::parse(scene.argument().unwrap_or_default(), scene.most)?;
    let mark = scene.mark.rest();
    let mark = mark.trim();
    let mut answer = scene.begin();
    if options.text {
        answer = answer.message(&format!("You asked: \"{mark}\""));
    }
    let mut calls: Vec<CallEvents> = tools_in_turn(scene)
        .take(options.calls)
        .enumerate()
        .map(|(index, (name, namespace))| match (options.ids, answer.next_call(name, namespace)) {
            (ItemIds::Same, call) => CallEvents { id: format!("fc_{index}"), ..call },
            (ItemIds::Unique | ItemIds::Absent, call) => call,
        })
        .collect();
    if options.one_call_id
        && let [first, others @ ..] = calls.as_mut_slice()
    {
        for call in others {
            call.call_id.clone_from(&first.call_id);
        }
    }
    let plan = Plan {
        mark: Arc::from(mark),
        bytes: options.bytes,
        delivery: Delivery { chunking: Chunking::Bytes(options.piece), pause: options.pause },
        breaks_off: options.end != End::Completed,
    };
    let answer = if options.interleaved {
        answer.steps(interleaved(calls, plan))
    } else {
        answer.steps(in_turn(calls, plan))
    };
    let mut script = options.end.of(answer);
    if options.ids == ItemIds::Absent {
        script = with_events(script, remove_ids);
    }
    if options.numbered {
        let mut numbers = 0_u64..;
        script = with_events(script, move |event| event["sequence_number"] = numbers.next().into());
    }
    Ok(script)
}

/// One call after the other; the text of each is made when its turn comes.
fn in_turn(calls: Vec<CallEvents>, plan: Plan) -> impl Iterator<Item = Step> + Send {
    let count = calls.len();
    calls.into_iter().enumerate().flat_map(move |(index, call)| -> Script {
        let arguments = plan.arguments(index);
        if plan.breaks_off && index + 1 == count {
            let deltas = plan.two_thirds(&arguments);
            Box::new(call.begun(&arguments, plan.delivery, deltas))
        } else {
            Box::new(call.whole(&arguments, plan.delivery))
        }
    })
}

/// All items, then a delta of each in turn, then their ends.
fn interleaved(calls: Vec<CallEvents>, plan: Plan) -> impl Iterator<Item = Step> + Send {
    let added: Vec<Step> = calls.iter().map(|call| Step::Event(call.added())).collect();
    // The texts of all calls are needed at once, but not before the first is played.
    let rest = iter::once_with(move || {
        let calls: Vec<(Arc<CallEvents>, Arc<str>)> = calls
            .into_iter()
            .enumerate()
            .map(|(index, call)| (Arc::new(call), plan.arguments(index)))
            .collect();
        // The last call is the last of every round, so that its limit ends the others' deltas too.
        let rounds = match calls.last() {
            Some((_, arguments)) if plan.breaks_off => plan.two_thirds(arguments),
            _ => usize::MAX,
        };
        let delivery = plan.delivery;
        let mut open: VecDeque<_> = calls
            .iter()
            .map(|(call, arguments)| {
                (Arc::clone(call), delivery.chunking.cut(arguments).take(rounds))
            })
            .collect();
        let deltas = iter::from_fn(move || {
            loop {
                let (call, mut pieces) = open.pop_front()?;
                if let Some(delta) = pieces.next() {
                    let event = call.delta(&delta);
                    open.push_back((call, pieces));
                    return Some(event);
                }
            }
        });
        let ended = if plan.breaks_off { Vec::new() } else { calls };
        deltas
            .flat_map(move |event| delivery.steps(event))
            .chain(ended.into_iter().flat_map(|(call, arguments)| call.done(&arguments)))
    });
    added.into_iter().chain(rest.flatten())
}

fn with_events(script: Script, mut change: impl FnMut(&mut Value) + Send + 'static) -> Script {
    Box::new(script.map(move |mut step| {
        if let Step::Event(event) = &mut step {
            change(event);
        }
        step
    }))
}

fn remove_ids(event: &mut Value) {
    if let Some(event) = event.as_object_mut() {
        event.remove("item_id");
    }
    if let Some(item) = event.get_mut("item").and_then(Value::as_object_mut) {
        item.remove("id");
    }
}

// === impl Plan ===

impl Plan {
    fn arguments(&self, index: usize) -> Arc<str> {
        Arc::from(long_arguments(index, &self.mark, self.bytes))
    }

    /// How many deltas are two thirds of all.
    fn two_thirds(&self, arguments: &Arc<str>) -> usize {
        self.delivery.chunking.cut(arguments).count() * 2 / 3
    }
}

// === impl End ===

impl End {
    fn of(self, answer: Answer<'_>) -> Script {
        match self {
            Self::Completed => answer.completed(),
            Self::Cut => answer.pause(BEFORE_THE_END).cut(),
            Self::Hang => answer.silence(),
            Self::Failed => answer.pause(BEFORE_THE_END).failed("server_error"),
            Self::Incomplete => answer.pause(BEFORE_THE_END).incomplete("max_output_tokens"),
        }
    }
}

#[cfg(test)]
mod tests;
