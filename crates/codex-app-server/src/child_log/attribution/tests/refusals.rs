use super::*;

fn refusal(id: &str, text: &str) -> LogLine<'static> {
    LogLine::Refusal { item_id: id.to_owned(), text: text.to_owned() }
}

#[test]
fn a_refusal_goes_to_the_turn_of_its_item() {
    Bench::new().line(refusal("1", "no")).expect(&[]).owner("1", "a").expect(&["a: refusal no"]);
    Bench::new()
        .owner("1", "b")
        .line(refusal("1", "no"))
        .expect(&["b: refusal no"])
        .owner("1", "b")
        .expect(&[]);
}

#[test]
fn of_two_refusals_that_wait_the_last_counts() {
    Bench::new()
        .line(refusal("1", "no"))
        .line(refusal("1", "never"))
        .owner("1", "a")
        .expect(&["a: refusal never"]);
}

#[test]
fn a_refusal_of_two_live_turns_belongs_to_neither() {
    Bench::new().owner("1", "a").line(refusal("1", "no")).owner("1", "b").expect(&[]);
    Bench::new().owner("1", "a").owner("1", "b").line(refusal("1", "no")).expect(&[]);
}

#[test]
fn a_refusal_without_an_owner_is_forgotten() {
    let mut bench = Bench::new();
    bench.line(refusal("1", "no")).pass(10).line(refusal("2", "never"));
    assert_eq!(bench.attribution.waiting_bytes, 5);
    bench.owner("1", "a").owner("2", "a").expect(&["a: refusal never"]);
}

#[test]
fn refusals_are_limited_with_everything_else() {
    let half = "x".repeat(MOST_OF_ALL / 2);
    let mut bench = Bench::new();
    bench.line(refusal("1", &half)).line(refusal("2", &half)).line(refusal("3", "over"));
    bench.owner("3", "a").expect(&[]);
    bench.added("4").fragment("4", "over").owner("4", "a").expect(&["a: start 4 at 0"]);
    bench.owner("2", "b");
    assert_eq!(bench.take().len(), 1);
    bench.line(refusal("3", "fits")).expect(&["a: refusal fits"]);
}
