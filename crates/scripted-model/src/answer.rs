//! Builds the script of one response, item by item.

use std::iter;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::call_events::CallEvents;
use crate::chunking::Chunking;
use crate::events;
use crate::ids::Ids;

/// One step of a response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Send this event.
    Event(Value),
    /// Send everything before, then be silent for so long.
    Pause(Duration),
    /// Send every byte that follows as a piece of its own.
    Trickle,
    /// Close the connection without the end of the response.
    Cut,
}

/// The steps of one response, made as they are played.
pub(crate) type Script = Box<dyn Iterator<Item = Step> + Send>;

/// Silence that outlasts every client.
pub(crate) const FOREVER: Duration = Duration::from_hours(87_600);

/// A call of a declared (or undeclared) function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) arguments: String,
}

impl Call {
    pub(crate) fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { name: name.into(), namespace: None, arguments: arguments.into() }
    }

    pub(crate) fn within(self, namespace: Option<String>) -> Self {
        Self { namespace, ..self }
    }
}

/// How a text leaves: the size of its deltas, and the pause after each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) chunking: Chunking,
    pub(crate) pause: Option<Duration>,
}

impl Delivery {
    pub(crate) fn at_once(chunking: Chunking) -> Self {
        Self { chunking, pause: None }
    }

    /// Three deltas: enough for a client to have to join them.
    pub(crate) fn plain(text: &str) -> Self {
        Self::at_once(Chunking::pieces(text, 3))
    }

    /// Equal deltas that take `total` together.
    pub(crate) fn spread(text: &str, deltas: u32, total: Duration) -> Self {
        let count = usize::try_from(deltas).unwrap_or(usize::MAX);
        Self { chunking: Chunking::pieces(text, count), pause: Some(total / deltas.max(1)) }
    }

    /// The event of a delta, and the pause after it.
    pub(crate) fn steps(self, event: Value) -> impl Iterator<Item = Step> + Send {
        iter::once(Step::Event(event)).chain(self.pause.map(Step::Pause))
    }
}

/// A response under construction. Each item takes the next output index.
pub(crate) struct Answer<'a> {
    ids: &'a Ids,
    response: String,
    items: usize,
    parts: Vec<Script>,
}

impl<'a> Answer<'a> {
    pub(crate) fn begin(ids: &'a Ids) -> Self {
        let response = ids.response();
        let created = events::created(&response);
        Self { ids, response, items: 0, parts: Vec::new() }.event(created)
    }

    pub(crate) fn message(self, text: &str) -> Self {
        self.message_delivered(text, None, Delivery::plain(text))
    }

    pub(crate) fn message_in_phase(self, text: &str, phase: &'static str) -> Self {
        self.message_delivered(text, Some(phase), Delivery::plain(text))
    }

    pub(crate) fn message_delivered(
        mut self,
        text: &str,
        phase: Option<&'static str>,
        delivery: Delivery,
    ) -> Self {
        let (id, index) = (self.ids.message(), self.next_index());
        let text: Arc<str> = Arc::from(text);
        let deltas = text_deltas(id.clone(), index, &text, delivery);
        let ending = iter::once_with({
            let id = id.clone();
            move || {
                let part = events::text_part(&text);
                [
                    Step::Event(events::text_done(&id, index, &text)),
                    Step::Event(events::item_done(
                        index,
                        &events::message_item(&id, phase, Some(part)),
                    )),
                ]
            }
        });
        self.message_opened(&id, index, phase).steps(deltas).steps(ending.flatten())
    }

    /// The first `deltas` deltas of a message whose end never comes.
    pub(crate) fn message_begun(mut self, text: &str, deltas: usize) -> Self {
        let (id, index) = (self.ids.message(), self.next_index());
        let begun = text_deltas(id.clone(), index, &Arc::from(text), Delivery::plain(text));
        self.message_opened(&id, index, None).steps(begun.take(deltas))
    }

    /// A message whose text comes with its last event only.
    pub(crate) fn message_without_deltas(self, text: &str) -> Self {
        let id = self.ids.message();
        let opened = events::message_item(&id, None, None);
        let closed = events::message_item(&id, None, Some(events::text_part(text)));
        self.item(&opened, |_| Vec::new(), &closed)
    }

    pub(crate) fn refusal(self, text: &str) -> Self {
        let id = self.ids.message();
        let opened = events::message_item(&id, None, None);
        let closed = events::message_item(&id, None, Some(events::refusal_part(text)));
        let pieces = Chunking::pieces(text, 2).cut(&Arc::from(text));
        let between = |index| {
            let mut between = vec![events::part_added(&id, index, &events::refusal_part(""))];
            between.extend(pieces.map(|delta| events::refusal_delta(&id, index, &delta)));
            between.push(events::refusal_done(&id, index, text));
            between
        };
        self.item(&opened, between, &closed)
    }

    pub(crate) fn reasoning(mut self, summary: &[&str], raw: Option<&str>) -> Self {
        let (id, index) = (self.ids.reasoning(), self.next_index());
        let events = events::reasoning(&id, index, summary, raw);
        self.steps(events.into_iter().map(Step::Event))
    }

    pub(crate) fn call(self, call: &Call) -> Self {
        self.call_delivered(call, Delivery::plain(&call.arguments))
    }

    pub(crate) fn call_delivered(mut self, call: &Call, delivery: Delivery) -> Self {
        let events = self.next_call(&call.name, call.namespace.as_deref());
        self.steps(events.whole(&Arc::from(call.arguments.as_str()), delivery))
    }

    /// The first `deltas` deltas of a call whose end never comes.
    pub(crate) fn call_begun(mut self, call: &Call, deltas: usize) -> Self {
        let events = self.next_call(&call.name, call.namespace.as_deref());
        let delivery = Delivery::plain(&call.arguments);
        self.steps(events.begun(&Arc::from(call.arguments.as_str()), delivery, deltas))
    }

    /// The events of a call whose steps the caller adds.
    pub(crate) fn next_call(&mut self, name: &str, namespace: Option<&str>) -> CallEvents {
        CallEvents {
            id: self.ids.function_call(),
            call_id: self.ids.call(),
            index: self.next_index(),
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
        }
    }

    /// A call of a free-form tool.
    pub(crate) fn custom_call(self, name: &str, input: &str, delivery: Delivery) -> Self {
        let (id, call_id) = (self.ids.function_call(), self.ids.call());
        let opened = events::custom_call_item(&id, &call_id, name, None);
        let closed = events::custom_call_item(&id, &call_id, name, Some(input));
        let pieces = delivery.chunking.cut(&Arc::from(input));
        let between = |index| {
            let deltas = pieces.map(|delta| events::custom_input_delta(&id, index, &delta));
            deltas.chain([events::custom_input_done(&id, index, input)]).collect()
        };
        self.item(&opened, between, &closed)
    }

    pub(crate) fn local_shell(self, command: &[&str]) -> Self {
        let (id, call_id) = (self.ids.function_call(), self.ids.call());
        let item = |done| events::local_shell_item(&id, &call_id, command, done);
        self.item(&item(false), |_| Vec::new(), &item(true))
    }

    pub(crate) fn tool_search(self) -> Self {
        let (id, call_id) = (self.ids.function_call(), self.ids.call());
        let item = |done| events::tool_search_item(&id, &call_id, done);
        self.item(&item(false), |_| Vec::new(), &item(true))
    }

    pub(crate) fn pause(self, duration: Duration) -> Self {
        self.steps(iter::once(Step::Pause(duration)))
    }

    /// What follows leaves byte by byte.
    pub(crate) fn trickling(self) -> Self {
        self.steps(iter::once(Step::Trickle))
    }

    pub(crate) fn completed(self) -> Script {
        self.completed_with(&events::default_usage())
    }

    pub(crate) fn completed_with(self, usage: &Value) -> Script {
        let end = events::completed(&self.response, usage);
        self.event(end).script()
    }

    pub(crate) fn failed(self, code: &str) -> Script {
        let end = events::failed(&self.response, code);
        self.event(end).script()
    }

    pub(crate) fn incomplete(self, reason: &str) -> Script {
        let end = events::incomplete(&self.response, reason);
        self.event(end).script()
    }

    pub(crate) fn cut(self) -> Script {
        self.steps(iter::once(Step::Cut)).script()
    }

    /// Nothing more; whoever outlasts the silence is cut off.
    pub(crate) fn silence(self) -> Script {
        self.pause(FOREVER).cut()
    }

    fn item(
        mut self,
        opened: &Value,
        between: impl FnOnce(usize) -> Vec<Value>,
        closed: &Value,
    ) -> Self {
        let index = self.next_index();
        let between = between(index).into_iter().map(Step::Event);
        self.event(events::item_added(index, opened))
            .steps(between)
            .event(events::item_done(index, closed))
    }

    fn message_opened(self, id: &str, index: usize, phase: Option<&str>) -> Self {
        self.event(events::item_added(index, &events::message_item(id, phase, None)))
            .event(events::part_added(id, index, &events::text_part("")))
    }

    fn next_index(&mut self) -> usize {
        let index = self.items;
        self.items += 1;
        index
    }

    fn event(self, event: Value) -> Self {
        self.steps(iter::once(Step::Event(event)))
    }

    pub(crate) fn steps(mut self, steps: impl Iterator<Item = Step> + Send + 'static) -> Self {
        self.parts.push(Box::new(steps));
        self
    }

    fn script(self) -> Script {
        Box::new(self.parts.into_iter().flatten())
    }
}

fn text_deltas(
    id: String,
    index: usize,
    text: &Arc<str>,
    delivery: Delivery,
) -> impl Iterator<Item = Step> + Send + use<> {
    delivery
        .chunking
        .cut(text)
        .flat_map(move |delta| delivery.steps(events::text_delta(&id, index, &delta)))
}
