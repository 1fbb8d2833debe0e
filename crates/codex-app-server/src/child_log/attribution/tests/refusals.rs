use super::*;

fn refusal(id: &str, text: &str) -> LogLine<'static> {
    LogLine::Refusal { item_id: id.to_owned(), text: text.to_owned() }
}

#[test]
fn a_refusal_goes_to_the_turn_of_its_item() {
    Bench::new()
        .line(refusal("1", "no"))
        .expect(&[])
        .message_owner("1", "a")
        .expect(&["a: refusal no"]);
    Bench::new()
        .message_owner("1", "b")
        .line(refusal("1", "no"))
        .expect(&["b: refusal no"])
        .message_owner("1", "b")
        .expect(&[]);
}

#[test]
fn of_two_refusals_that_wait_the_last_counts() {
    Bench::new()
        .line(refusal("1", "no"))
        .line(refusal("1", "never"))
        .message_owner("1", "a")
        .expect(&["a: refusal never"]);
}

#[test]
fn a_refusal_of_two_live_turns_belongs_to_neither() {
    Bench::new()
        .message_owner("1", "a")
        .line(refusal("1", "no"))
        .message_owner("1", "b")
        .expect(&[]);
    Bench::new()
        .message_owner("1", "a")
        .message_owner("1", "b")
        .line(refusal("1", "no"))
        .expect(&[]);
}

#[test]
fn a_refusal_without_an_owner_is_forgotten() {
    let mut bench = Bench::new();
    bench.line(refusal("1", "no")).pass(10).line(refusal("2", "never"));
    assert_eq!(bench.attribution.waiting_bytes, 5);
    bench.message_owner("1", "a").message_owner("2", "a").expect(&["a: refusal never"]);
}

#[test]
fn refusals_are_limited_with_everything_else() {
    let half = "x".repeat(MOST_OF_ALL / 2);
    let mut bench = Bench::new();
    bench.line(refusal("1", &half)).line(refusal("2", &half)).line(refusal("3", "over"));
    bench.message_owner("3", "a").expect(&[]);
    bench.added("4").fragment("4", "over").owner("4", "a").expect(&["a: start 4 at 0"]);
    bench.message_owner("2", "b");
    assert_eq!(bench.take().len(), 1);
    bench.line(refusal("3", "fits")).expect(&["a: refusal fits"]);
}

#[test]
fn the_owner_of_a_call_is_not_refused_by_a_message_of_the_same_id() {
    Bench::new().owner("1", "a").line(refusal("1", "to b")).expect(&[]);
    Bench::new().line(refusal("1", "to b")).owner("1", "a").expect(&[]);
}
