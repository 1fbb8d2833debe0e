use std::sync::Arc;

use serde_json::value::RawValue;

use super::*;

const SIGNED_IN: Option<u128> = Some(1);

fn setting(params: &str) -> Setting {
    of(params, SIGNED_IN)
}

fn of(params: &str, account: Option<u128>) -> Setting {
    let params = RawValue::from_string(params.to_owned()).expect("JSON");
    Setting { params: Arc::from(params), account }
}

fn thread(id: &str) -> ThreadId {
    ThreadId::from(id)
}

/// Places with a thread for each of the settings, in this order.
fn filled(limit: usize, settings: &[&str], now: Instant) -> Places {
    let mut places = Places::new(limit);
    for params in settings {
        let place = places.reserve(&setting(params), now).expect("room");
        places.fill(place.number, thread(params)).expect("its place");
    }
    places
}

#[test]
fn a_thread_is_had_once_and_only_for_the_same_bytes() {
    let mut places = filled(1, &[r#"{"model":"a"}"#], Instant::now());
    for other in [r#"{"model":"b"}"#, r#"{"model": "a"}"#, r#"{"model":"a","x":1}"#] {
        assert_eq!(places.take(&setting(other)).thread, None, "{other}");
    }
    let wanted = setting(r#"{"model":"a"}"#);
    assert_eq!(places.take(&wanted).thread, Some(thread(r#"{"model":"a"}"#)));
    assert_eq!(places.take(&wanted).thread, None);
}

#[test]
fn a_thread_that_is_being_started_is_left_alone() {
    let mut places = Places::new(2);
    let now = Instant::now();
    let place = places.reserve(&setting("1"), now).unwrap();
    assert_eq!(places.take(&setting("1")).thread, None);
    assert!(places.reserve(&setting("1"), now).is_none(), "one is on its way");
    places.fill(place.number, thread("t")).unwrap();
    assert_eq!(places.take(&setting("1")).thread, Some(thread("t")));
    assert!(places.reserve(&setting("1"), now).is_some(), "its place is free again");
}

#[test]
fn threads_of_another_login_go() {
    let now = Instant::now();
    let mut places = filled(3, &["1", "2"], now);
    let mut starting = places.reserve(&setting("3"), now).unwrap();
    let taken = places.take(&of("1", Some(2)));
    assert_eq!((taken.thread, taken.useless), (None, vec![thread("1"), thread("2")]));
    assert!(
        starting.left.try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Closed)
    );
    assert_eq!(places.fill(starting.number, thread("3")), Err(thread("3")));
}

#[test]
fn the_oldest_makes_room_but_not_at_once() {
    let begin = Instant::now();
    let mut places = filled(2, &["1", "2"], begin);
    assert!(places.reserve(&setting("3"), begin + SAFE_FOR / 2).is_none());
    let place = places.reserve(&setting("3"), begin + SAFE_FOR).unwrap();
    assert_eq!(place.replaced, Some(thread("1")));
    places.fill(place.number, thread("3")).unwrap();
    assert_eq!(places.take(&setting("2")).thread, Some(thread("2")));
    assert_eq!(places.take(&setting("3")).thread, Some(thread("3")));
}

#[test]
fn a_start_that_lasts_too_long_loses_its_place() {
    let begin = Instant::now();
    let mut places = Places::new(1);
    let slow = places.reserve(&setting("1"), begin).unwrap();
    let next = places.reserve(&setting("2"), begin + SAFE_FOR).unwrap();
    assert_eq!(next.replaced, None);
    assert_eq!(places.fill(slow.number, thread("1")), Err(thread("1")));
}

#[test]
fn without_a_limit_above_zero_there_is_none() {
    assert!(Places::new(0).reserve(&setting("1"), Instant::now()).is_none());
}

#[test]
fn who_keeps_a_thread_learns_that_it_is_gone() {
    let mut places = Places::new(1);
    let mut place = places.reserve(&setting("1"), Instant::now()).unwrap();
    places.fill(place.number, thread("1")).unwrap();
    assert_eq!(place.left.try_recv(), Err(oneshot::error::TryRecvError::Empty));
    assert_eq!(places.remove(place.number), Some(thread("1")));
    assert_eq!(place.left.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    assert_eq!(places.remove(place.number), None);
}

#[test]
fn a_child_that_is_about_to_go_starts_no_more() {
    let mut places = filled(2, &["1"], Instant::now());
    places.close();
    assert!(places.reserve(&setting("2"), Instant::now()).is_none());
    assert_eq!(places.take(&setting("1")).thread, Some(thread("1")), "what is there can be used");
}
