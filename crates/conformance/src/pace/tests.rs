use super::*;
use crate::exchange::Arrival;

/// A stream whose frames came at these times.
fn exchange(frames: &[(&str, u64)]) -> Exchange {
    let mut exchange = Exchange::default();
    for (frame, after) in frames {
        exchange.body.push_str(frame);
        let arrival = Arrival { length: exchange.body.len(), after: Duration::from_millis(*after) };
        exchange.arrivals.push(arrival);
    }
    exchange
}

fn chat(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

#[test]
fn text_is_timed_from_the_frame_that_has_it() {
    let (role, one, two) = (chat(""), chat("one"), chat("two"));
    let frames = [(role.as_str(), 5), (&one, 10), (": ping\n\n", 900), (&two, 2_000)];
    let pace = Pace::of(&exchange(&frames), Endpoint::Chat);
    assert_eq!(pace.first_text_before_end, Some(Duration::from_millis(1_990)));
    assert_eq!(pace.disturbance, None);
    // Everything at once, as a server that keeps it back sends it.
    let at_once = format!("{role}{one}{two}");
    let pace = Pace::of(&exchange(&[(&at_once, 2_000)]), Endpoint::Chat);
    assert_eq!(pace.first_text_before_end, Some(Duration::ZERO));
    assert_eq!(Pace::of(&exchange(&[]), Endpoint::Chat).first_text_before_end, None);
}

#[test]
fn between_two_pieces_of_text_only_signs_of_life_come() {
    let (one, two) = (chat("one"), chat("two"));
    for sign in [chat("").as_str(), "data:\n\n", "event: ping\ndata: {}\n\n"] {
        let pace = Pace::of(&exchange(&[(&one, 0), (sign, 1), (&two, 2)]), Endpoint::Chat);
        assert!(pace.disturbance.is_some(), "{sign}");
    }
    let delta = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n";
    for (sign, is_fit) in [
        (": ping\n\n", true),
        ("event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":4}\n\n", true),
        ("data: {\"type\":\"response.in_progress\"}\n\n", false),
    ] {
        let pace = Pace::of(&exchange(&[(delta, 0), (sign, 1), (delta, 2)]), Endpoint::Responses);
        assert_eq!(pace.disturbance.is_none(), is_fit, "{sign}");
    }
}
