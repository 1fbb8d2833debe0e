//! The ids that clients see.

use std::fmt;
use std::sync::Arc;

/// How long an id may be: OpenAI refuses longer ones in a history.
const LONGEST_ID: usize = 40;
/// How long a backend id's tail may be to be carried in an id.
const LONGEST_SUFFIX: usize = 28;
const BACKEND_PREFIX: &str = "call_";

/// How ids are made. Whatever the policy, an id is at most 40 characters, stable for the turn, and
/// unique in it.
#[derive(Clone, Default)]
pub enum IdPolicy {
    /// `tool_<choice>_<ordinal>`: unique in a turn.
    #[default]
    Ordinal,
    /// `tool_<choice>_<ordinal>_<suffix>`: unique over turns. The suffix is the tail of the backend's
    /// id where that is `call_` and up to 28 letters or digits, so that [`backend_call_id`] leads back
    /// to it. Otherwise it comes from the given source, which should be random; also for all but one
    /// of the calls to which a backend has given the same id.
    BackendSuffix(SuffixSource),
    /// Ids of the caller's own. One that is empty, too long or taken gives way to the ordinal one.
    Factory(IdFactory),
}

/// A source of suffixes: letters and digits, at most 28. Without such a suffix the id is the ordinal one.
pub type SuffixSource = Arc<dyn Fn() -> String + Send + Sync>;

/// A source of ids.
pub type IdFactory = Arc<dyn Fn(&IdContext<'_>) -> String + Send + Sync>;

/// What an id can be made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdContext<'a> {
    /// The choice.
    pub choice: u32,
    /// The call's place among the calls of the choice.
    pub ordinal: usize,
    /// The backend's id, if it is known by now.
    pub backend_id: Option<&'a str>,
    /// The name of the tool.
    pub name: &'a str,
}

// === impl IdPolicy ===

impl IdPolicy {
    /// An id. `has_own_id` says whether the backend's id is not another call's as well, and `is_taken`
    /// whether an id is in use.
    pub(crate) fn make(
        &self,
        context: &IdContext<'_>,
        has_own_id: bool,
        is_taken: impl Fn(&str) -> bool,
    ) -> String {
        let ordinal = format!("tool_{}_{}", context.choice, context.ordinal);
        let wanted = match self {
            Self::Ordinal => None,
            Self::BackendSuffix(source) => {
                let with = |suffix: &str| {
                    let id = format!("{ordinal}_{suffix}");
                    (is_suffix(suffix) && id.len() <= LONGEST_ID).then_some(id)
                };
                let backend_id = context.backend_id.filter(|_| has_own_id);
                let carried = backend_id.and_then(|id| id.strip_prefix(BACKEND_PREFIX));
                carried.and_then(with).or_else(|| with(&source()))
            }
            Self::Factory(factory) => {
                Some(factory(context)).filter(|id| (1..=LONGEST_ID).contains(&id.chars().count()))
            }
        };
        let free = |id: &String| !is_taken(id);
        wanted.filter(free).or_else(|| Some(ordinal.clone()).filter(free)).unwrap_or_else(|| {
            // A factory has given away an ordinal id: count on.
            let mut others = (0_u64..).map(|more| format!("{ordinal}_{more}"));
            others.find(free).unwrap_or(ordinal)
        })
    }
}

impl fmt::Debug for IdPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ordinal => "Ordinal",
            Self::BackendSuffix(_) => "BackendSuffix",
            Self::Factory(_) => "Factory",
        })
    }
}

/// The backend's id that an id of [`IdPolicy::BackendSuffix`] was made from.
///
/// ```
/// use tool_call_aggregator::backend_call_id;
///
/// assert_eq!(backend_call_id("tool_0_1_a1B2").as_deref(), Some("call_a1B2"));
/// assert_eq!(backend_call_id("tool_0_1"), None);
/// ```
pub fn backend_call_id(id: &str) -> Option<String> {
    let mut parts = id.strip_prefix("tool_")?.splitn(3, '_');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (choice, ordinal, suffix) = (parts.next()?, parts.next()?, parts.next()?);
    (is_number(choice) && is_number(ordinal) && is_suffix(suffix))
        .then(|| format!("{BACKEND_PREFIX}{suffix}"))
}

fn is_suffix(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LONGEST_SUFFIX
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
