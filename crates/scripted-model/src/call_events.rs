//! The events of one function call.

use std::iter;
use std::sync::Arc;

use serde_json::Value;

use crate::answer::{Delivery, Step};
use crate::events;

/// What the events of a call have in common.
#[derive(Debug)]
pub(crate) struct CallEvents {
    pub(crate) id: String,
    pub(crate) call_id: String,
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
}

// === impl CallEvents ===

impl CallEvents {
    pub(crate) fn added(&self) -> Value {
        events::item_added(self.index, &self.item(None))
    }

    pub(crate) fn delta(&self, delta: &str) -> Value {
        events::arguments_delta(&self.id, self.index, delta)
    }

    /// The ends of the arguments and of the item.
    pub(crate) fn done(&self, arguments: &str) -> [Step; 2] {
        [
            events::arguments_done(&self.id, self.index, arguments),
            events::item_done(self.index, &self.item(Some(arguments))),
        ]
        .map(Step::Event)
    }

    /// The item, its deltas and its end, which is made when the deltas are played.
    pub(crate) fn whole(
        self,
        arguments: &Arc<str>,
        delivery: Delivery,
    ) -> impl Iterator<Item = Step> + Send + use<> {
        let call = Arc::new(self);
        let arguments = Arc::clone(arguments);
        let begun = begun(&call, &arguments, delivery, usize::MAX);
        begun.chain(iter::once_with(move || call.done(&arguments)).flatten())
    }

    /// The item and its first `deltas` deltas.
    pub(crate) fn begun(
        self,
        arguments: &Arc<str>,
        delivery: Delivery,
        deltas: usize,
    ) -> impl Iterator<Item = Step> + Send + use<> {
        begun(&Arc::new(self), arguments, delivery, deltas)
    }

    fn item(&self, arguments: Option<&str>) -> Value {
        let namespace = self.namespace.as_deref();
        events::function_call_item(&self.id, &self.call_id, &self.name, namespace, arguments)
    }
}

fn begun(
    call: &Arc<CallEvents>,
    arguments: &Arc<str>,
    delivery: Delivery,
    deltas: usize,
) -> impl Iterator<Item = Step> + Send + use<> {
    let added = iter::once(Step::Event(call.added()));
    let call = Arc::clone(call);
    let pieces = delivery.chunking.cut(arguments).take(deltas);
    added.chain(pieces.flat_map(move |delta| delivery.steps(call.delta(&delta))))
}
