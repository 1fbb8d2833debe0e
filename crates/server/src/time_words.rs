//! Times as people say them.

use std::time::Duration;

use jiff::Timestamp;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// How long something takes: `2 hours 10 minutes`. Rounded up, because who comes back too early
/// fails again.
pub(crate) fn how_long(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    let round = |unit: u64| seconds.div_ceil(unit) * unit;
    let (seconds, large, small) = match seconds {
        0..=90 => return counted(seconds, "second"),
        91..DAY => (round(MINUTE), (HOUR, "hour"), (MINUTE, "minute")),
        _ => (round(HOUR), (DAY, "day"), (HOUR, "hour")),
    };
    let parts = [(seconds / large.0, large.1), (seconds % large.0 / small.0, small.1)];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, unit)| counted(count, unit)).collect::<Vec<_>>().join(" ")
}

fn counted(count: u64, unit: &str) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

/// When something is, seen from `now`: `18:40 UTC`, with the day if it is not within one.
pub(crate) fn when(time: Timestamp, now: Timestamp) -> String {
    let within_a_day = time.as_second() - now.as_second() < DAY.cast_signed();
    let format = if within_a_day { "%H:%M UTC" } else { "%Y-%m-%d %H:%M UTC" };
    time.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_largest_units_are_told() {
        for (millis, words) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (1_001, "2 seconds"),
            (90_000, "90 seconds"),
            (90_001, "2 minutes"),
            (3_600_000, "1 hour"),
            (86_399_000, "24 hours"),
            (7_799_000, "2 hours 10 minutes"),
            (86_400_000, "1 day"),
            (86_400_001, "1 day 1 hour"),
            (273_600_000, "3 days 4 hours"),
        ] {
            assert_eq!(how_long(Duration::from_millis(millis)), words, "{millis}");
        }
    }

    #[test]
    fn a_time_that_is_far_has_its_day() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        assert_eq!(when(at(1_700_003_600), at(1_700_000_000)), "23:13 UTC");
        assert_eq!(when(at(1_700_086_400), at(1_700_000_000)), "2023-11-15 22:13 UTC");
    }
}
