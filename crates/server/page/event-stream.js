// Reading `text/event-stream` from a fetch: an EventSource cannot send a key.

/// Yields `{event, data}` for each event and `{comment}` for each comment, as they come.
export async function* events(response) {
  for await (const block of blocks(response.body)) {
    const fields = { event: "message", data: [] };
    for (const line of block) {
      if (line.startsWith(":")) {
        yield { comment: line.slice(1).trimStart() };
        continue;
      }
      const colon = line.indexOf(":");
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "event") fields.event = value;
      if (name === "data") fields.data.push(value);
    }
    if (fields.data.length > 0) yield { event: fields.event, data: fields.data.join("\n") };
  }
}

/// The lines between two empty ones. What is not ended by an empty line was cut off, and is no event.
async function* blocks(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let block = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const clean = line.endsWith("\r") ? line.slice(0, -1) : line;
        if (clean !== "") {
          block.push(clean);
        } else if (block.length > 0) {
          yield block;
          block = [];
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
