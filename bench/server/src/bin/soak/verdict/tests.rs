use super::*;

/// An hour in which nothing changes but what is told.
fn hour(change: impl Fn(&mut Point, f64)) -> Vec<Point> {
    let points = (0..60_u32).map(|number| {
        // Something always moves a little.
        let wobble = f64::from(number % 3) - 1.0;
        let mut point = Point {
            minute: f64::from(number) + 0.5,
            server_megabytes: 40.0 + wobble * 0.3,
            server_files: 30.0 + wobble,
            server_threads: 12.0,
            codex_megabytes: 200.0 + wobble,
            codex_files: 40.0,
            codex_threads: 20.0,
            idle_threads: 60.0,
            held_threads: 4.0,
            database_megabytes: 1.0,
            log_megabytes: 1.0,
            load: 1.0,
            whole_p50: 30.0 + wobble,
            whole_p99: 60.0,
            first_p50: 28.0 + wobble,
            first_p99: 60.0,
            turns: 8.0,
            server_processor: 1.0,
            codex_processor: 10.0,
        };
        change(&mut point, f64::from(number));
        point
    });
    points.collect()
}

/// The figures that are not flat.
fn not_flat(points: &[Point]) -> Vec<(&'static str, Ruling)> {
    let judged = judge(points).into_iter().filter(|judged| judged.ruling != Ruling::Flat);
    judged.map(|judged| (judged.name, judged.ruling)).collect()
}

#[test]
fn an_hour_without_change_is_flat() {
    assert_eq!(not_flat(&hour(|_, _| {})), []);
}

#[test]
fn a_leak_of_memory_is_found() {
    let leak = hour(|point, minute| point.server_megabytes += minute * 4.0 / 60.0);
    assert_eq!(not_flat(&leak), [("memory of the server, MB", Ruling::Grew)]);
    let leak = hour(|point, minute| point.codex_megabytes += minute * 0.5);
    assert_eq!(not_flat(&leak), [("memory of Codex, MB", Ruling::Grew)]);
}

#[test]
fn one_fall_does_not_hide_that_the_memory_of_codex_rises() {
    let saw = |fall: f64| {
        hour(move |point, minute| {
            point.codex_megabytes += minute - if minute < 30.0 { 0.0 } else { fall };
        })
    };
    let found = not_flat(&saw(40.0));
    let [("memory of Codex, MB", ruling @ Ruling::RoseBetweenFalls { by, minutes })] = &found[..]
    else {
        panic!("{found:?}")
    };
    assert!((25.0..30.0).contains(minutes) && (by - minutes).abs() < 1.0, "{found:?}");
    assert!(ruling.told().ends_with(" in 29 minutes without a fall"), "{}", ruling.told());
    // What falls again and again is judged by its thirds.
    assert_eq!(not_flat(&hour(|point, minute| point.codex_megabytes += minute % 10.0 * 3.0)), []);
}

#[test]
fn one_descriptor_or_thread_every_ten_minutes_is_found() {
    let leak = hour(|point, minute| point.server_files += (minute / 10.0).floor());
    assert_eq!(not_flat(&leak), [("descriptors of the server", Ruling::Grew)]);
    let leak = hour(|point, minute| point.codex_threads += (minute / 10.0).floor());
    assert_eq!(not_flat(&leak), [("threads of Codex", Ruling::Grew)]);
}

#[test]
fn what_grows_in_the_warm_up_alone_is_flat() {
    let warming = hour(|point, minute| {
        point.server_megabytes += minute.min(9.0);
        point.codex_megabytes += minute.min(9.0) * 20.0;
    });
    assert_eq!(not_flat(&warming), []);
}

#[test]
fn a_moment_of_trouble_is_no_growth() {
    let trouble = hour(|point, minute| {
        if (40.0..44.0).contains(&minute) {
            point.whole_p50 *= 5.0;
            point.server_files += 50.0;
        }
    });
    assert_eq!(not_flat(&trouble), []);
}

#[test]
fn turns_that_become_slower_are_found_unless_the_machine_is_busier() {
    let slower = |load: f64| {
        hour(move |point, minute| {
            point.whole_p50 *= 1.0 + minute / 120.0;
            point.load += load * minute / 60.0;
        })
    };
    assert_eq!(not_flat(&slower(0.1)), [("a new chat, p50 ms", Ruling::Grew)]);
    let busy = not_flat(&slower(3.0));
    assert!(
        matches!(&busy[..], [("a new chat, p50 ms", Ruling::NotJudged(why))] if why.contains("load")),
        "{busy:?}"
    );
}

#[test]
fn what_was_not_seen_is_not_flat() {
    let unseen = hour(|point, _| point.whole_p50 = f64::NAN);
    assert_eq!(not_flat(&unseen), [("a new chat, p50 ms", Ruling::Grew)]);
}

#[test]
fn a_short_run_judges_no_growth() {
    for points in [hour(|_, _| {})[..4].to_vec(), Vec::new()] {
        assert!(not_flat(&points).iter().all(|(_, ruling)| matches!(ruling, Ruling::NotJudged(_))));
        assert_eq!(not_flat(&points).len(), RULES.len());
    }
}
