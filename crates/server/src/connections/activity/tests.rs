use super::*;

const PATIENCE: Patience = Patience { head: Duration::from_secs(10), idle: Duration::from_mins(5) };

#[test]
fn each_phase_has_its_own_deadline() {
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    for (phase, blocked, deadline, spare_since) in [
        (Phase::Idle, None, Some((after(300), Lapse::Request)), Some(start)),
        (Phase::Head, None, Some((after(10), Lapse::Head)), Some(start)),
        (Phase::Busy, None, None, None),
        (Phase::Busy, Some(after(1)), Some((after(301), Lapse::Reading)), Some(after(1))),
        (Phase::Busy, Some(after(2)), Some((after(302), Lapse::Reading)), None),
        (Phase::Answered, Some(after(1)), Some((after(301), Lapse::Reading)), Some(after(1))),
        (Phase::Leaving, None, None, Some(start)),
    ] {
        let state = State { phase, since: start, blocked };
        assert_eq!(state.deadline(PATIENCE), deadline, "{state:?}");
        assert_eq!(state.spare_since(PATIENCE, after(11)), spare_since, "{state:?}");
    }
}

#[test]
fn an_answer_is_over_when_it_is_written() {
    let activity = Arc::new(Activity::new());
    let phase = || activity.state.lock().phase;
    activity.heard();
    assert_eq!(phase(), Phase::Head);
    let request = activity.begin(false);
    activity.heard();
    activity.flushed();
    assert_eq!(phase(), Phase::Busy);
    activity.blocked();
    drop(request);
    assert_eq!(phase(), Phase::Answered);
    activity.wrote();
    activity.flushed();
    assert_eq!((phase(), activity.state.lock().blocked), (Phase::Idle, None));

    let request = activity.begin(false);
    activity.leave();
    drop(request);
    assert_eq!(phase(), Phase::Leaving);
}

/// Trickling does not help: a head is not new with every byte, nor is a client that takes nothing.
#[test]
fn time_that_has_run_goes_on_running() {
    let activity = Arc::new(Activity::new());
    activity.heard();
    let begun = activity.state.lock().since;
    activity.heard();
    assert_eq!(activity.state.lock().since, begun);
    let _request = activity.begin(false);
    activity.blocked();
    let blocked = activity.state.lock().blocked;
    activity.blocked();
    assert_eq!(activity.state.lock().blocked, blocked);
}
