//! A response, made again.

use bridge::{ResponseItems, TurnPolicy};
use openai_wire::comment;

use super::inputs::Inputs;
use super::seen::Seen;
use super::{Ending, KEEP_ALIVE, Played, Player, Replayed};
use crate::record::{Header, Record, Told, What};
use crate::response::ResponseHeader;

pub(super) fn respond(response: &ResponseHeader, player: Player<'_>) -> Replayed {
    let record = player.record;
    let Header { stream, choices, policy, .. } = &record.header;
    let writer = response.writer(&record.header);
    let ids = Inputs::item_ids(&player.inputs);
    let items = if *stream {
        ResponseItems::streamed(writer, response.encrypted(), ids)
    } else {
        ResponseItems::collected(writer, ids)
    };
    let nothing_said = items.buffer.len();
    let mut items = Seen::new(items, *choices);
    let Played { head_sent, ending, reports } =
        player.play(&mut items, |items| comment(KEEP_ALIVE, &mut items.buffer));
    let (mut items, choices) = items.into_parts();
    let usage = record.usage().unwrap_or_default();
    let (completed_at, kept) = closed(record);
    if !kept {
        items.not_stored();
    }
    match &ending {
        Ending::Open => {
            let told = if *stream { streamed(&items) } else { Told::Nothing };
            return Replayed::new(told, &reports, choices);
        }
        Ending::Failed(error) if !*stream || (!head_sent && items.buffer.len() == nothing_said) => {
            return Replayed::failed(error, &reports, choices);
        }
        Ending::Failed(error) => items.fail(error),
        Ending::Cancelled => items.cancel(usage),
        Ending::Done => items.complete(completed_at, usage),
    }
    items.end();
    let told = if *stream {
        let stop_after_tools = TurnPolicy::from(policy).stop_after_tools;
        comment(&bridge::telemetry(&reports, stop_after_tools), &mut items.buffer);
        streamed(&items)
    } else {
        Told::Whole { status: 200, body: items.response_json(response.encrypted()) }
    };
    Replayed::new(told, &reports, choices)
}

/// When it was complete, and whether it is kept: never if it has failed.
fn closed(record: &Record) -> (u64, bool) {
    let closed = record.entries.iter().find_map(|entry| match entry.what {
        What::Closed { completed_at, kept } => Some((completed_at, kept)),
        _ => None,
    });
    let (completed_at, kept) = closed.unwrap_or_default();
    (completed_at.unwrap_or(record.header.created), kept)
}

fn streamed(items: &ResponseItems) -> Told {
    Told::Stream(String::from_utf8_lossy(&items.buffer).into_owned())
}
