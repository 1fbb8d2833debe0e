//! A chat completion, made again.

use bridge::{Collected, Frames, TurnPolicy};
use openai_wire::chat::completion::ChatCompletion;
use openai_wire::chat::stream::{ChunkWriter, UsageFrame, done, error_frame};
use openai_wire::comment;

use super::seen::Seen;
use super::{Ending, KEEP_ALIVE, Played, Player, Replayed};
use crate::record::{Header, Told};

pub(super) fn stream(player: Player<'_>) -> Replayed {
    let record = player.record;
    let Header { id, created, model, policy, choices, include_usage, .. } = &record.header;
    let policy = TurnPolicy::from(policy);
    let usage = if *include_usage { UsageFrame::Wanted } else { UsageFrame::Unwanted };
    let writer = ChunkWriter::new(id, *created, model, usage);
    let mut frames = Seen::new(Frames::new(writer, policy.shape, *choices), *choices);
    let nothing_said = frames.answer.buffer.len();
    let Played { head_sent, ending, reports } =
        player.play(&mut frames, |frames| comment(KEEP_ALIVE, &mut frames.buffer));
    let (answer, choices) = frames.into_parts();
    let Frames { writer, mut buffer, .. } = answer;
    let usage = match &ending {
        Ending::Failed(error) if !head_sent && buffer.len() == nothing_said => {
            return Replayed::failed(error, &reports, choices);
        }
        Ending::Failed(error) => {
            error_frame(error, &mut buffer);
            None
        }
        Ending::Open | Ending::Done | Ending::Cancelled => record.usage(),
    };
    if !matches!(ending, Ending::Open) {
        comment(&bridge::telemetry(&reports, policy.stop_after_tools), &mut buffer);
        if let Some(usage) = &usage {
            writer.usage(usage, &mut buffer);
        }
        done(&mut buffer);
    }
    let told = Told::Stream(String::from_utf8_lossy(&buffer).into_owned());
    Replayed::new(told, &reports, choices)
}

pub(super) fn collect(player: Player<'_>) -> Replayed {
    let record = player.record;
    let Header { id, created, model, policy, choices, .. } = &record.header;
    let policy = TurnPolicy::from(policy);
    let mut message = Seen::new(Collected::new(policy.mode, policy.shape, *choices), *choices);
    let Played { ending, mut reports, .. } = player.play(&mut message, |_| {});
    let (answer, seen) = message.into_parts();
    let choices = answer.into_choices(&mut reports);
    let told = match ending {
        Ending::Failed(error) => return Replayed::failed(&error, &reports, seen),
        Ending::Open => Told::Nothing,
        Ending::Done | Ending::Cancelled => {
            let completion = ChatCompletion {
                id,
                object: "chat.completion",
                created: *created,
                model,
                choices,
                usage: record.usage().unwrap_or_default(),
            };
            let body = serde_json::to_string(&completion).unwrap_or_default();
            Told::Whole { status: 200, body }
        }
    };
    Replayed::new(told, &reports, seen)
}
