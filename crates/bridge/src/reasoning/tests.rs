use super::*;

fn item(name: &str) -> ReasoningItem {
    ReasoningItem { summary: vec![], encrypted_content: Some(name.to_owned()) }
}

fn before(name: &str, before_text: bool) -> ReasoningBefore {
    ReasoningBefore { encrypted_content: name.to_owned(), summary: vec![], before_text }
}

fn reasoning(name: &str) -> HistoryItem {
    let encrypted_content = name.to_owned();
    HistoryItem::Reasoning { summary: vec![], encrypted_content, expendable: true }
}

fn call(id: &str) -> HistoryItem {
    HistoryItem::function_call(id, "look", "{}")
}

fn said(text: &str) -> HistoryItem {
    HistoryItem::text(Role::Assistant, text)
}

#[test]
fn each_call_has_what_was_thought_since_the_last() {
    let mut trail = ReasoningTrail::default();
    trail.on_item(item("one"));
    trail.on_text();
    trail.on_item(item("two"));
    trail
        .on_item(ReasoningItem { summary: vec!["for people".to_owned()], encrypted_content: None });
    trail.on_call("tool_0_0_abc");
    trail.on_call("tool_0_1_def");
    trail.on_item(item("three"));
    trail.on_call("other");
    trail.on_item(item("after"));
    assert_eq!(trail.items(), 5);
    let expected = [
        ("call_abc", vec![before("one", true), before("two", false)]),
        ("other", vec![before("three", false)]),
    ];
    let expected =
        expected.map(|(id, items)| CallReasoning { call_id: id.to_owned(), items: items.into() });
    assert_eq!(trail.into_calls(), expected);
}

#[test]
fn reasoning_goes_back_to_where_it_was() {
    let go = Question::of(Some(&HistoryItem::text(Role::User, "go")));
    let kept = |id: &str, question| match id {
        _ if question != go => None,
        "a" => Some([before("one", true), before("two", false)].into()),
        "c" => Some([before("three", true)].into()),
        _ => None,
    };
    let user = || HistoryItem::text(Role::User, "go");
    let history = vec![user(), said("Let me look."), call("a"), call("b"), user(), call("c")];
    let whole = vec![
        user(),
        reasoning("one"),
        said("Let me look."),
        reasoning("two"),
        call("a"),
        call("b"),
        user(),
        // Its text was left out by the client.
        reasoning("three"),
        call("c"),
    ];
    assert_eq!(put_back(history, kept), whole);
    assert_eq!(put_back(whole.clone(), kept), whole, "what is there already is not doubled");
    let other = vec![HistoryItem::text(Role::User, "something else"), call("a")];
    assert_eq!(put_back(other.clone(), kept), other, "another question, another call");
}
