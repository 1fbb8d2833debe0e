//! The trace that a request belongs to, as in W3C's `traceparent`.

use std::fmt;
use std::num::{NonZeroU64, NonZeroU128};

use axum::http::{HeaderMap, HeaderName};

use super::only;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Set in the flags of a trace whose spans are kept.
const SAMPLED: u8 = 1;

/// Where a request stands in a trace: the client's own if it named one, else one that begins here.
/// Handlers find it among the request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// The whole trace.
    pub trace_id: TraceId,
    /// The client's span that this request is a part of.
    pub parent: Option<NonZeroU64>,
    /// Whether anybody keeps the spans of this trace.
    pub sampled: bool,
}

/// Names a trace; shown as 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceId(pub NonZeroU128);

// === impl TraceContext ===

impl TraceContext {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let given = only(headers, &TRACEPARENT).and_then(|value| value.to_str().ok());
        given.and_then(Self::parse).unwrap_or_else(Self::new)
    }

    /// Unique is enough: nothing is guarded by it.
    pub(crate) fn new() -> Self {
        let trace_id = TraceId(NonZeroU128::new(fastrand::u128(..)).unwrap_or(NonZeroU128::MIN));
        Self { trace_id, parent: None, sampled: true }
    }

    /// `version-trace-parent-flags`. Later versions may say more after that.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let version = hex(parts.next()?, 2)?;
        let trace = hex(parts.next()?, 32)?;
        let parent = hex(parts.next()?, 16)?;
        let flags = hex(parts.next()?, 2)?;
        let is_known = match version {
            0 => parts.next().is_none(),
            0xff => false,
            _ => true,
        };
        let parent = NonZeroU64::new(u64::try_from(parent).ok()?)?;
        is_known.then_some(Self {
            trace_id: TraceId(NonZeroU128::new(trace)?),
            parent: Some(parent),
            sampled: flags & u128::from(SAMPLED) != 0,
        })
    }
}

/// So many hexadecimal digits, in lower case.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_hex = text.len() == digits && text.bytes().all(is_digit);
    is_hex.then(|| u128::from_str_radix(text, 16).ok())?
}

// === impl TraceId ===

impl fmt::Display for TraceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    fn context_for(given: &[&str]) -> TraceContext {
        let mut headers = HeaderMap::new();
        for value in given {
            headers.append(TRACEPARENT, HeaderValue::from_str(value).unwrap());
        }
        TraceContext::of(&headers)
    }

    #[test]
    fn a_trace_of_the_client_is_gone_on_with() {
        for (flags, sampled) in [("00", false), ("01", true), ("02", false), ("ff", true)] {
            for (version, more) in [("00", ""), ("01", ""), ("cc", "-what-the-future-brings")] {
                let context =
                    context_for(&[&format!("{version}-{TRACE}-00f067aa0ba902b7-{flags}{more}")]);
                let parent = NonZeroU64::new(0x00f0_67aa_0ba9_02b7);
                let trace_id = context.trace_id;
                assert_eq!(context, TraceContext { trace_id, parent, sampled });
                assert_eq!(trace_id.to_string(), TRACE);
            }
        }
    }

    #[test]
    fn one_that_is_not_understood_is_replaced_by_a_new_one() {
        let good = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let bad = [
            format!("ff-{TRACE}-00f067aa0ba902b7-01"),
            format!("0-{TRACE}-00f067aa0ba902b7-01"),
            format!("00-{TRACE}-00f067aa0ba902b7"),
            format!("00-{TRACE}-00f067aa0ba902b7-1"),
            format!("00-{TRACE}-00f067aa0ba902b7-01-"),
            format!("00-{TRACE}-0000000000000000-01"),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-{}-00f067aa0ba902b7-01", TRACE.to_uppercase()),
            format!("00-+{}-00f067aa0ba902b7-01", &TRACE[1..]),
            format!("00-{TRACE}0-00f067aa0ba902b7-01"),
            good.replace('-', "_"),
            String::new(),
        ];
        let bad = bad.iter().map(|text| vec![text.as_str()]);
        for given in bad.chain([vec![], vec![good.as_str(), good.as_str()]]) {
            let context = context_for(&given);
            let trace_id = context.trace_id;
            assert_eq!(
                context,
                TraceContext { trace_id, parent: None, sampled: true },
                "{given:?}"
            );
            assert_ne!(trace_id.to_string(), TRACE);
            assert_eq!(trace_id.to_string().len(), 32);
            assert_ne!(context_for(&given).trace_id, trace_id);
        }
    }
}
