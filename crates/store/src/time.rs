//! Times as they stand in the database.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A clock before 1970 is wrong anyway.
pub(crate) fn millis_since_1970(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, millis)
}

pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
