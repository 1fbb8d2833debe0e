//! Images that Codex takes long to decode.

use std::sync::Arc;

use codex_app_server::{Direction, Turn};
use model_turn::{ContentPart, HistoryItem, Role, TurnEnd};
use testkit::TestPool;
use tokio::sync::watch;

use super::{assert_works, ended, scripted};

/// Starts a turn whose history has an image, and is taken with the next `[[finish]]` only.
fn show(codex: &TestPool) -> Turn {
    let mut request = codex.ask("[[slow]]");
    let image = ContentPart::Image { url: testkit::gray_jpeg(8, 8) };
    let content = vec![image];
    request.history.insert(0, HistoryItem::Message { role: Role::User, content, phase: None });
    codex.pool.start_turn(request).unwrap()
}

#[tokio::test]
async fn row_6_two_histories_with_images_are_decoded_at_once() {
    let (count, mut shown) = watch::channel(0);
    let codex = scripted(|config| {
        config.client.tap = Some(Arc::new(move |direction, line: &[u8]| {
            let line = String::from_utf8_lossy(line);
            if direction == Direction::ToCodex && line.contains("input_image") {
                count.send_modify(|count| *count += 1);
            }
        }));
    })
    .await;
    codex.until_ready().await;
    let first = show(&codex);
    let second = show(&codex);
    shown.wait_for(|count| *count == 2).await.unwrap();
    let leaving = show(&codex);
    let third = show(&codex);
    let fourth = show(&codex);
    // Others do not wait for them.
    let plain = ended(codex.start("hello")).await;
    assert_eq!((plain.text.as_str(), plain.end), ("word0 ", Ok(TurnEnd::Completed)));

    // Codex goes on with those that it has, and is not given those that it has not.
    drop((first, leaving));
    ended(codex.start("hello")).await;
    assert_eq!(*shown.borrow(), 2);

    assert_works(&codex).await;
    let second = ended(second).await;
    assert_eq!((second.text.as_str(), second.end), ("word0 ", Ok(TurnEnd::Completed)));
    shown.wait_for(|count| *count == 4).await.unwrap();
    assert_works(&codex).await;
    for turn in [third, fourth] {
        assert_eq!(ended(turn).await.end, Ok(TurnEnd::Completed));
    }
    assert_eq!(*shown.borrow(), 4);
    codex.pool.shutdown().await;
}
