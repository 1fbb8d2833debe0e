-- One row for each turn that has ended: names, numbers and ids, and nothing of what was said.
CREATE TABLE usage (
    id INTEGER PRIMARY KEY,
    ended_at INTEGER NOT NULL,      -- milliseconds since 1970
    request_id TEXT NOT NULL,       -- a client can choose it: not unique
    choice INTEGER NOT NULL,
    key_name TEXT NOT NULL,
    model TEXT NOT NULL,            -- as the client names it
    backend_model TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    stream INTEGER NOT NULL,
    output_mode TEXT NOT NULL,
    stop_mode TEXT NOT NULL,
    stop_reason TEXT NOT NULL,
    failed INTEGER NOT NULL,
    tool_call_count INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    prompt_tokens INTEGER,          -- all four are NULL where the upstream told none
    cached_tokens INTEGER,
    completion_tokens INTEGER,
    reasoning_tokens INTEGER,
    queue_ms INTEGER NOT NULL,
    first_token_ms INTEGER,
    duration_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX usage_by_time ON usage (ended_at);
