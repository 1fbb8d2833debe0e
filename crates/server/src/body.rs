//! Reading a request's body, within its limits.

use std::time::Duration;

use axum::body::{Body, Bytes};
use bytes::BytesMut;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use memchr::memchr2;
use openai_wire::{ApiError, ErrorType};
use tokio::time::{Instant, timeout};

use crate::gate::Caller;
use crate::large_bodies::{BodyRoom, LARGE, LargeBodies};
use crate::time_words::how_long;

/// What the body of a request may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimits {
    /// The longest one.
    pub bytes: usize,
    /// How long it may take to come to its end.
    pub time: Duration,
}

/// A body that was read to its end.
#[derive(Debug)]
pub struct WholeBody {
    /// All of it.
    pub bytes: Bytes,
    /// What it takes up, until its turns run.
    pub room: Option<BodyRoom>,
}

/// A body, as far as it was read.
struct Reading {
    body: Limited<Body>,
    frames: Vec<Bytes>,
    length: usize,
    time_left: Duration,
    limits: BodyLimits,
}

/// Reads the whole body.
///
/// # Errors
/// If it is too long (413), takes too long (408), does not come to its end (400), or is large and
/// there is no room for it (429).
pub async fn read_body(
    body: Body,
    limits: BodyLimits,
    large: &LargeBodies,
    caller: &Caller,
) -> Result<WholeBody, ApiError> {
    let body = Limited::new(body, limits.bytes);
    let time_left = limits.time;
    let mut reading = Reading { body, frames: Vec::new(), length: 0, time_left, limits };
    let mut room = None;
    if !reading.read(LARGE).await? {
        // What comes meanwhile waits in the network.
        room = Some(large.room(caller).await?);
        reading.read(usize::MAX).await?;
    }
    Ok(WholeBody { bytes: reading.into_bytes(), room })
}

// === impl Reading ===

impl Reading {
    /// Reads to the end, or until it is as long as that; whether that was the end.
    async fn read(&mut self, enough: usize) -> Result<bool, ApiError> {
        let started = Instant::now();
        let reading = async {
            while self.length < enough {
                let Some(frame) = self.body.frame().await else { return Ok(true) };
                if let Ok(bytes) = frame?.into_data() {
                    self.length += bytes.len();
                    self.frames.push(bytes);
                }
            }
            Ok::<_, axum::BoxError>(false)
        };
        let read = timeout(self.time_left, reading).await;
        self.time_left = self.time_left.saturating_sub(started.elapsed());
        match read {
            Ok(Ok(at_end)) => Ok(at_end),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(self.limits.bytes)),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a request's body ended early");
                Err(incomplete())
            }
            Err(_) => Err(too_slow(self.limits.time)),
        }
    }

    /// A single frame is not copied.
    fn into_bytes(mut self) -> Bytes {
        match self.frames.as_mut_slice() {
            [] => Bytes::new(),
            [whole] => std::mem::take(whole),
            frames => {
                let mut whole = BytesMut::with_capacity(self.length);
                for frame in frames {
                    whole.extend_from_slice(&std::mem::take(frame));
                }
                whole.freeze()
            }
        }
    }
}

fn incomplete() -> ApiError {
    ApiError::new(
        400,
        ErrorType::InvalidRequestError,
        "The request did not arrive to its end. Try again.",
    )
    .with_code("incomplete_body")
}

/// The error for a body of more than `limit` bytes.
pub(crate) fn too_large(limit: usize) -> ApiError {
    ApiError::new(
        413,
        ErrorType::InvalidRequestError,
        format!(
            "The request is larger than {limit} bytes (PROXY_MAX_BODY_BYTES). Send a shorter \
             conversation or smaller images."
        ),
    )
    .with_code("request_too_large")
}

fn too_slow(limit: Duration) -> ApiError {
    let message = format!(
        "The request's body did not arrive within {} (PROXY_BODY_TIMEOUT_MS). Try again.",
        how_long(limit)
    );
    ApiError::new(408, ErrorType::InvalidRequestError, message).with_code("request_timeout")
}

/// Refuses JSON whose arrays and objects are nested more than `limit` deep, before anything
/// recurses into it. Whether it is JSON at all is for the parser to say.
///
/// # Errors
/// If it is deeper.
pub fn check_json_depth(json: &[u8], limit: usize) -> Result<(), ApiError> {
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => rest = after_string(rest),
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return Err(too_deep(limit));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// What follows the string whose opening quote was just read.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr2(b'"', b'\\', rest) {
        match rest[at] {
            b'"' => return &rest[at + 1..],
            _ => rest = rest.get(at + 2..).unwrap_or_default(),
        }
    }
    &[]
}

fn too_deep(limit: usize) -> ApiError {
    ApiError::new(
        400,
        ErrorType::InvalidRequestError,
        format!("The request's JSON is nested more than {limit} deep (PROXY_MAX_JSON_DEPTH)."),
    )
    .with_code("json_too_deep")
}

#[cfg(test)]
mod tests;
