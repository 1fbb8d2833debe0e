//! Which result belongs to which call, and the ids that both have towards Codex.

use std::collections::{HashMap, HashSet, VecDeque};

use openai_wire::ApiError;
use tool_call_aggregator::backend_call_id;

use super::place::Place;

/// Longest id that upstreams take.
pub(super) const LONGEST_ID: usize = 64;

/// Of a call without an id.
const NAMELESS: &str = "call";

/// The calls of a history, read from its beginning.
///
/// Some clients count their calls anew in every turn. So the k-th result of an id belongs to the k-th
/// call of it, and each call gets an id of its own. That depends on what came before it alone: a
/// history that has grown keeps its ids, and the upstream's prompt cache knows it again.
#[derive(Default)]
pub(super) struct CallIds {
    /// Ids that calls have towards Codex.
    taken: HashSet<String>,
    /// The last number behind each id that several calls want: those below it are taken.
    numbers: HashMap<String, u64>,
    /// The calls of each of the client's ids.
    calls: HashMap<String, CallsOfId>,
    /// Legacy calls without a result, by their name and in their order.
    open_functions: HashMap<String, Vec<OpenCall>>,
}

/// The calls of an id.
#[derive(Default)]
struct CallsOfId {
    /// Those without a result, in their order.
    open: VecDeque<OpenCall>,
    /// Where the latest result is in the history.
    result: Option<usize>,
}

/// What a result is.
pub(super) enum ResultOf {
    /// That of the call with this id towards Codex.
    Call(String),
    /// Another one of a call that has the result at this place in the history.
    Answered(usize),
}

/// A call that waits for its result.
struct OpenCall {
    id: String,
    /// Where it is in the request.
    place: Place,
    /// Which call of the message; none for a legacy one.
    position: Option<usize>,
}

// === impl CallIds ===

impl CallIds {
    /// A call of the client's id, at its place; gives the id towards Codex.
    pub(super) fn call(&mut self, id: String, place: Place, position: usize) -> String {
        let chosen = match backend_call_id(&id) {
            Some(backend_id) => self.choose(&backend_id),
            None => self.choose(&id),
        };
        let call = OpenCall { id: chosen.clone(), place, position: Some(position) };
        self.calls.entry(id).or_default().open.push_back(call);
        chosen
    }

    /// Which call a result belongs to, if that gets this place in the history.
    pub(super) fn result(
        &mut self,
        id: &str,
        item: usize,
        place: Place,
    ) -> Result<ResultOf, ApiError> {
        let calls = self.calls.get_mut(id);
        let found = calls.and_then(|calls| match calls.open.pop_front() {
            Some(call) => {
                calls.result = Some(item);
                Some(ResultOf::Call(call.id))
            }
            None => calls.result.map(ResultOf::Answered),
        });
        found.ok_or_else(|| {
            let (member, rule) = match place {
                Place::Message(_) => (
                    "tool_call_id",
                    "every tool message must follow an assistant message with a call of its 'tool_call_id'",
                ),
                Place::Earlier(_) | Place::Input(_) => (
                    "call_id",
                    "every 'function_call_output' must follow a 'function_call' of its 'call_id', in 'input' or in the response that 'previous_response_id' names",
                ),
            };
            let id = cut(id, LONGEST_ID);
            let words =
                format!("There is no call '{id}' before this result that has none yet: {rule}.");
            ApiError::invalid(place.member(member), words)
        })
    }

    /// A legacy call, which has no id.
    pub(super) fn function_call(&mut self, name: String, place: Place) -> String {
        let id = self.choose(NAMELESS);
        let call = OpenCall { id: id.clone(), place, position: None };
        self.open_functions.entry(name).or_default().push(call);
        id
    }

    /// The id of the legacy call that a result belongs to: the latest of its name.
    pub(super) fn function_result(&mut self, name: &str, place: Place) -> Result<String, ApiError> {
        let latest = self.open_functions.get_mut(name).and_then(Vec::pop);
        latest.map(|call| call.id).ok_or_else(|| {
            let name = cut(name, LONGEST_ID);
            let words = format!(
                "There is no call of '{name}' before this result that has none yet: every function message must follow an assistant message with a 'function_call' of its name."
            );
            ApiError::invalid(place.member("name"), words)
        })
    }

    /// Nothing may be left without a result.
    pub(super) fn finish(self) -> Result<(), ApiError> {
        let functions = self
            .open_functions
            .into_iter()
            .flat_map(|(name, calls)| calls.into_iter().map(move |call| (name.clone(), call)));
        let calls = self
            .calls
            .into_iter()
            .flat_map(|(id, calls)| calls.open.into_iter().map(move |call| (id.clone(), call)));
        match calls.chain(functions).min_by_key(|(_, call)| (call.place, call.position)) {
            None => Ok(()),
            Some((id, OpenCall { place, position: Some(position), .. })) => {
                let (param, rule) = match place {
                    Place::Message(_) => (
                        place.member(&format!("tool_calls[{position}].id")),
                        "an assistant message with 'tool_calls' must be followed by a tool message for each 'tool_call_id'",
                    ),
                    Place::Earlier(_) => (
                        "input".to_owned(),
                        "the response that 'previous_response_id' names has called it, so 'input' must have a 'function_call_output' of its 'call_id'",
                    ),
                    Place::Input(_) => (
                        place.member("call_id"),
                        "a 'function_call' must be followed by a 'function_call_output' of its 'call_id'",
                    ),
                };
                let id = cut(&id, LONGEST_ID);
                let words = format!("The call '{id}' has no result: {rule}.");
                Err(ApiError::invalid(param, words))
            }
            Some((name, OpenCall { place, position: None, .. })) => {
                let name = cut(&name, LONGEST_ID);
                let words = format!(
                    "The call of '{name}' has no result: an assistant message with 'function_call' must be followed by a function message of that name."
                );
                Err(ApiError::invalid(place.member("function_call"), words))
            }
        }
    }

    /// The wanted id, shortened if it is too long, and numbered if another call has it.
    fn choose(&mut self, wanted: &str) -> String {
        let wanted = if wanted.is_empty() { NAMELESS } else { wanted };
        let whole = cut(wanted, LONGEST_ID);
        if self.taken.insert(whole.to_owned()) {
            return whole.to_owned();
        }
        let number = self.numbers.entry(whole.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let ending = format!("_{number}");
            let id = format!("{}{ending}", cut(whole, LONGEST_ID - ending.len()));
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// The beginning of a text, at most so many bytes of it.
pub(super) fn cut(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}
