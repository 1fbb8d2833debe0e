//! From a request to its answer: the turns, their events, and what is reported about them.
//! The same for every endpoint; what differs is how an answer is written.

mod failure_context;
mod incoming;
mod live_answer;
mod random_text;
mod running;
mod turn_log;
mod usage;

use std::time::UNIX_EPOCH;

use axum::extract::Request;
use axum::response::Response;

use crate::api::TurnApi;
use crate::api_error::ErrorResponse;
use crate::gate::Caller;
use crate::request_info::Endpoint;
pub(crate) use incoming::{Incoming, aside, work};
pub(crate) use live_answer::{ESTIMATED, Storage, Storing};
pub(crate) use random_text::random_text;
pub(crate) use running::Understood;

/// Answers a request that starts turns, unless its key has sent too many.
pub(crate) async fn serve<'a, R>(
    api: &'a TurnApi,
    caller: &Caller,
    endpoint: Endpoint,
    request: Request,
    answer: impl FnOnce(&'a TurnApi, Incoming) -> R,
) -> Response
where
    R: Future<Output = Result<Response, ErrorResponse>>,
{
    let settings = api.settings.load_full();
    let rate_limit = settings.rate_limit;
    let respond = async {
        let incoming = Incoming::read(&api.large, caller, settings, endpoint, request).await?;
        answer(api, incoming).await
    };
    // Boxed: it is large, and would be moved again and again on its way through the layers.
    api.within_rate(caller, rate_limit, Box::pin(respond)).await
}

pub(crate) fn seconds_since_1970() -> u64 {
    ambient::wall_time().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}
