use super::{MarkedAnswer, NotMarked};

fn answer() -> MarkedAnswer {
    MarkedAnswer {
        id: "k7".to_owned(),
        reasoning: 2,
        words: 2,
        blocks: 1,
        calls: 2,
        filler: 3,
        pause: 20,
    }
}

#[test]
fn a_mark_says_what_it_stands_for() {
    assert_eq!(answer().to_string(), "k7:2:2:1:2:3:20");
    assert_eq!("k7:2:2:1:2:3:20".parse(), Ok(answer()));
    for text in ["", "k7", "k7:1:2:3:4:5", "k7:1:2:3:4:5:6:7", ":1:2:3:4:5:6", "k 7:1:2:3:4:5:6"] {
        assert_eq!(text.parse::<MarkedAnswer>(), Err(NotMarked), "{text}");
    }
    for number in ["-1", "x", "1000001"] {
        let text = format!("k7:{number}:2:3:4:5:6");
        assert_eq!(text.parse::<MarkedAnswer>(), Err(NotMarked), "{text}");
    }
}

#[test]
fn every_piece_has_the_mark_and_its_number() {
    let answer = answer();
    assert_eq!(answer.reasoning().collect::<String>(), "k7:r0/2 k7:r1/2 ");
    assert_eq!(
        answer.text(),
        [
            "k7:0/2k7k ",
            "k7:1/2k7k ",
            "<use",
            "_tool><name>get_weather</name><city>",
            "k7:b0/1",
            "</city></use_tool>",
            "k7:behind0 ",
        ]
    );
    let calls: Vec<_> = answer.calls().map(|call| (call.name, call.arguments())).collect();
    assert_eq!(
        calls,
        [
            ("get_weather", r#"{"city": "k7:c0/2"}"#.to_owned()),
            ("get_time", r#"{"city": "k7:c1/2"}"#.to_owned()),
        ]
    );
}
