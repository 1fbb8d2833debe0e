use std::collections::HashSet;

use super::Ids;

#[test]
fn call_ids_have_24_letters_or_digits_and_never_repeat() {
    let ids = Ids::new(7);
    let calls: HashSet<String> = (0..10_000).map(|_| ids.call()).collect();
    assert_eq!(calls.len(), 10_000);
    for call in calls {
        let tail = call.strip_prefix("call_").unwrap();
        assert_eq!(tail.len(), 24);
        assert!(tail.chars().all(|letter| letter.is_ascii_alphanumeric()), "{call}");
    }
}

#[test]
fn two_servers_hand_out_different_ids() {
    assert_ne!(Ids::new(1).response(), Ids::new(2).response());
}
