//! Server-sent events, put together from whatever pieces come.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerEvent {
    pub(super) name: String,
    pub(super) data: String,
}

/// Reads our own server's events: each has one line of data.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    /// What has come of a line that has not ended.
    rest: Vec<u8>,
    name: String,
    data: String,
}

// === impl EventReader ===

impl EventReader {
    /// The events that these bytes complete.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<ServerEvent> {
        let mut events = Vec::new();
        self.rest.extend_from_slice(bytes);
        let mut lines: Vec<_> =
            self.rest.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        self.rest = lines.pop().unwrap_or_default();
        for line in lines {
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\r');
            if let Some(name) = line.strip_prefix("event:") {
                name.trim_start().clone_into(&mut self.name);
            } else if let Some(data) = line.strip_prefix("data:") {
                data.trim_start().clone_into(&mut self.data);
            } else if line.is_empty() && !self.name.is_empty() {
                let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
                events.push(ServerEvent { name, data });
            }
        }
        events
    }
}

#[test]
fn events_come_whole_however_they_are_cut() {
    let stream = b"event: status\ndata: {\"a\":\"\xc3\xa9\"}\n\n: alive\n\nevent: turn\r\ndata: {}\r\n\r\nevent: half\n";
    let event =
        |name: &str, data: &str| ServerEvent { name: name.to_owned(), data: data.to_owned() };
    for length in 1..=stream.len() {
        let mut reader = EventReader::default();
        let events: Vec<_> = stream.chunks(length).flat_map(|chunk| reader.read(chunk)).collect();
        assert_eq!(events, [event("status", "{\"a\":\"é\"}"), event("turn", "{}")], "{length}");
    }
}
