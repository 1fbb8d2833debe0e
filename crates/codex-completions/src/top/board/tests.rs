use std::time::UNIX_EPOCH;

use serde_json::json;

use super::*;

const SECOND: u64 = 1_800_000_000_000;

fn event(name: &str, data: &Value) -> News {
    News::Event(ServerEvent { name: name.to_owned(), data: data.to_string() })
}

fn running(id: &str) -> Value {
    json!({
        "id": id, "state": "running", "started_at": SECOND, "endpoint": "chat", "key": "default",
        "client": "OpenAI/Python", "model": "demo", "backend_model": "demo", "stream": true,
    })
}

fn ended(id: &str) -> Value {
    let mut turn = running(id);
    let more = json!({
        "state": "ended", "stop_reason": "tool_calls", "failure": null, "duration_ms": 130,
        "tool_calls": ["get_weather", "a\u{1b}[2Jb"], "tokens": {"prompt": 12, "completion": 3},
    });
    turn.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    turn
}

fn status() -> Value {
    json!({
        "version": "0.1.0", "uptime_seconds": 120, "ready": true, "reason": null,
        "workers": [{"state": "ready", "codex": "1.2.3"}], "restarts": 0,
        "kept_threads": {"idle": 1, "held": 0}, "upstream": null,
        "turns": {"running": 1, "waiting": 0, "limit": 16},
        "account": {"email": "me@example.com", "primary": {"used_percent": 12, "window_minutes": 300}, "secondary": null},
    })
}

fn board() -> Board {
    let mut board = Board::new("http://127.0.0.1:7/v1".to_owned());
    board.take(event("turns", &json!({"turns": [ended("req_1/0")]})));
    board.take(event("status", &status()));
    board.take(event("turn", &running("req_2/0")));
    board
}

fn lines(board: &Board, width: usize, height: usize) -> Vec<String> {
    board.lines(width, height, UNIX_EPOCH + Duration::from_millis(SECOND + 2_500))
}

#[test]
fn everything_that_is_known_is_shown() {
    let expected = [
        "codex-completions 0.1.0  ready  up 2 min  codex 1.2.3  http://127.0.0.1:7/v1",
        "turns: 1 running, 0 waiting, limit 16  kept threads: 1 idle, 0 held  restarts: 0",
        "account: me@example.com  12 % of 5 h used",
        "",
        HEADING,
        "08:00:00  default   OpenAI/Python   demo            -          2.5 s    running",
        "08:00:00  default   OpenAI/Python   demo            12+3       0.1 s    tool_calls get_weather, a\\u001b[2Jb",
        "Ctrl-C leaves",
    ];
    assert_eq!(lines(&board(), 200, 30), expected);
}

#[test]
fn a_turn_that_ends_is_shown_once_and_those_that_run_first() {
    let mut board = board();
    board.take(event("turn", &running("req_3/0")));
    board.take(event("turn", &ended("req_3/0")));
    let rows = lines(&board, 200, 30).split_off(5);
    let ends: Vec<_> = rows.iter().map(|row| row.contains("running")).collect();
    assert_eq!(ends, [true, false, false, false], "{rows:?}");
}

#[test]
fn it_fits_any_screen() {
    for (width, height) in [(20, 6), (1, 1), (80, 24)] {
        let lines = lines(&board(), width, height);
        assert!(lines.len() <= height.max(1));
        assert!(lines.iter().all(|line| line.chars().count() <= width));
    }
}

#[test]
fn a_server_that_is_gone_is_told_until_it_is_back() {
    let mut board = board();
    board.take(News::Lost("it has ended the connection".to_owned()));
    assert!(lines(&board, 200, 30)[0].ends_with("it has ended the connection; it is asked again"));
    board.take(event("status", &status()));
    assert!(lines(&board, 200, 30)[0].contains("ready"));
}
