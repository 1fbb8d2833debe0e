-- A response, those that continue it, those that continue them, and so on: kept and expired together.
CREATE TABLE conversations (
    number INTEGER PRIMARY KEY,
    key_name TEXT NOT NULL,
    used_at INTEGER NOT NULL,       -- when the last response of it was made, in milliseconds since 1970
    responses INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    expired INTEGER NOT NULL        -- 1: nobody finds it any more, and the sweep deletes it bit by bit
) STRICT;

CREATE INDEX conversations_by_use ON conversations (expired, used_at);
CREATE INDEX conversations_by_key ON conversations (expired, key_name, used_at);

-- SQLite keeps up to a page of a row in the table's tree. Where rows are packed anew there, copies of
-- them can stay behind, which nothing overwrites when they are deleted. The rest of a row has pages of
-- its own, and these are overwritten. So a page of zeros stands before what was said.
CREATE TABLE responses (
    number INTEGER PRIMARY KEY,     -- greater than that of every response that was there before
    id TEXT NOT NULL,
    key_name TEXT NOT NULL,
    created_at INTEGER NOT NULL,    -- milliseconds since 1970
    previous_id TEXT,               -- the one that it continues, which may be gone
    conversation INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    padding BLOB NOT NULL,
    body TEXT NOT NULL,             -- the response object without its output, as JSON
    items TEXT NOT NULL,            -- the JSON of all items, one after another
    UNIQUE (key_name, id)
) STRICT;

CREATE INDEX responses_by_conversation ON responses (conversation);

-- Where an item stands in the text of its response.
CREATE TABLE response_items (
    number INTEGER PRIMARY KEY,
    response INTEGER NOT NULL,
    side INTEGER NOT NULL,          -- 0: what was new in the request, 1: what was said
    position INTEGER NOT NULL,
    id TEXT NOT NULL,               -- a client sends items back with their ids: not unique
    start INTEGER NOT NULL,         -- in bytes
    bytes INTEGER NOT NULL,
    UNIQUE (response, side, position)
) STRICT;

CREATE INDEX response_items_by_id ON response_items (id);

-- One row: the sums over all conversations that have not expired.
CREATE TABLE responses_held (
    responses INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;

INSERT INTO responses_held VALUES (0, 0);

-- The responses that can be found.
CREATE VIEW found_responses AS
    SELECT responses.* FROM responses
    JOIN conversations ON conversations.number = responses.conversation
    WHERE conversations.expired = 0;
