//! Every setting there is.
//!
//! The documentation and `.env.example` are compared with this table by a test.

use crate::kind::Kind;
use crate::variable::Variable;

/// The settings that decide about answers.
pub(crate) const ANSWERS: &str = "Answers and tool calls";

/// Longest time that can be set: the end of a longer one could not be told.
const YEAR_MS: u64 = 365 * 24 * 60 * 60 * 1000;

/// More than any buffer of ours could use.
const TERABYTE: u64 = 1 << 40;

/// What surely fits the buffer into which heads are read.
const MOST_HEADER_BYTES: u64 = 256 * 1024;

/// A setting's static has its name, so that a misspelt one does not compile.
macro_rules! variables {
    ($($group:tt { $($name:ident = $variable:expr;)* })*) => {
        $($(
            #[doc = concat!("`", stringify!($name), "`")]
            pub static $name: Variable =
                Variable { name: stringify!($name), group: $group, ..$variable };
        )*)*

        /// All settings, in the order of the documentation.
        pub static VARIABLES: &[&Variable] = &[$($(&$name),*),*];
    };
}

variables! {
    "Address and access" {
        PORT = integer(0, 65_535).default("11435")
            .means("port of `serve` (also `--port`); `0` lets the system choose");
        PROXY_HOST = of(Kind::Host).unset("127.0.0.1 and ::1")
            .means("address of `serve` (also `--host`); another than a loopback address needs `PROXY_ALLOW_REMOTE=true`");
        PROXY_ALLOW_REMOTE = of(Kind::Boolean).default("false")
            .means("other machines may connect. The key must then have 16 characters or more and not be a well-known one; a generated key will do");
        PROXY_API_KEY = of(Kind::Secret).unset("generated on the first run, and kept in the data folder").live()
            .means("bearer key of the clients; `key add` makes others beside it");
        PROXY_PROTECT_MODELS = of(Kind::Boolean).default("true")
            .means("the key is needed for `/v1/models` too");
        PROXY_ALLOWED_HOSTS = of(Kind::Hosts).unset("none besides").live()
            .means("names under which clients may address the server, beside the loopback names, for example `proxy.example.org,proxy.example.org:8080`");
        PROXY_CORS_ALLOWED_ORIGINS = of(Kind::Origins).unset("none besides").live()
            .means("origins of web pages that may use the server, beside Obsidian's and our own, for example `https://app.example.org`");
    }
    "Codex" {
        CODEX_BIN = of(Kind::Path).unset("`codex` on the PATH if it is new enough, else the copy in the data folder")
            .means("the Codex to run; the npm wrapper is replaced by the native binary behind it");
        PROXY_ALLOW_UNTESTED_CODEX = of(Kind::Boolean).default("false")
            .means("real models are asked through a Codex that has failed its canary as well: a turn after each start that shows whether it keeps the promises of `docs/security.md`");
        PROXY_CODEX_HOME = of(Kind::Path).unset("`codex-home` in the data folder")
            .means("home of the child: login, configuration, databases. `CODEX_HOME` is not used, and a folder that holds somebody else's configuration is refused");
        CODEX_MODEL = of(Kind::Text).unset("Codex's own default")
            .means("model where none is named, and behind the built-in other names");
        PROXY_MODEL_ALIASES = of(Kind::Aliases).unset("the built-in ones").live()
            .means("other names for models, for example `fast=gpt-5.5:low`. Built in are `codex-5`, `codex-5-low`, `-medium` and `-high` for the default model with that effort, and the same as `chat`, `chat-low`, …");
        PROXY_MODEL_FALLBACK = of(Kind::Text).unset("such a name is a 404").live()
            .means("model for names that Codex does not know, for example `gpt-5.6-luna-low`: some clients ask for a second model by a fixed name. Not for an upstream of one's own, whose models are not known");
        PROXY_UPSTREAM_BASE_URL = of(Kind::Url).unset("where the login leads")
            .means("another Responses API, without `/responses`, for example `http://127.0.0.1:8000/v1`");
        PROXY_UPSTREAM_API_KEY = of(Kind::Secret).unset("none")
            .means("its bearer key");
        PROXY_UPSTREAM_RETRIES = integer(0, 100).default("2").live()
            .means("retries of a turn that failed before any output, where a retry can help, inside the time limit");
        PROXY_CALL_PROBE_MS = millis(0).default("10000").live()
            .means("silence with calls pending before they are answered with an error, which brings out a failure that Codex hides; `0` = never");
        PROXY_INSTRUCTIONS_FILE = of(Kind::Path).unset("none").live()
            .means("file whose text is a developer message in front of the client's messages");
        PROXY_ENABLE_PARALLEL_TOOL_CALLS = of(Kind::Boolean).unset("as the model ships")
            .means("`true`: models that would ask for one call at a time are sent the classic way, in which they may make several (not verified with OpenAI's own service). `false`: one call of a turn at most is forwarded");
        PROXY_CHATGPT_BASE_URL = of(Kind::Url).unset("Codex's own")
            .means("where a ChatGPT login finds its accounts and limits, for another issuer");
        CODEX_APP_SERVER_LOGIN_ISSUER = of(Kind::Text).unset("Codex's own")
            .means("passed on to the child: another issuer of logins");
        CODEX_REFRESH_TOKEN_URL_OVERRIDE = of(Kind::Text).unset("Codex's own")
            .means("passed on to the child: where tokens are renewed");
        CODEX_REVOKE_TOKEN_URL_OVERRIDE = of(Kind::Text).unset("Codex's own")
            .means("passed on to the child: where tokens are revoked");
    }
    ANSWERS {
        PROXY_OUTPUT_MODE = choice(&["auto", "obsidian-xml", "openai-json"]).default("auto").live()
            .means("how calls are shown: as `<use_tool>` blocks too, or as `tool_calls` alone. `auto` is XML, but JSON for a request that declares tools. The header `x-proxy-output-mode` wins");
        PROXY_RESPONSES_OUTPUT_MODE = choice(&["auto", "obsidian-xml", "openai-json"]).default("openai-json").live()
            .means("the same for `/v1/responses`");
        PROXY_STOP_AFTER_TOOLS = of(Kind::Boolean).default("true").live()
            .means("end the turn after its tool calls");
        PROXY_STOP_AFTER_TOOLS_MODE = choice(&["burst", "first", "all"]).default("burst").live()
            .means("`first`: end it after the first call; `burst`, or `all`: after the last call of the burst");
        PROXY_STOP_AFTER_TOOLS_GRACE_MS = millis(0).unset("the burst ends with the response").live()
            .means("how long another call is waited for after a complete one");
        PROXY_SUPPRESS_TAIL_AFTER_TOOLS = of(Kind::Boolean).default("true").live()
            .means("text after the last call is dropped; nothing before or between calls is. Of `/v1/responses` in XML mode alone");
        PROXY_TOOL_BLOCK_MAX = integer(0, 1_000_000).default("0").live()
            .means("most calls of a turn and choice that are forwarded; `0` = no such cap");
        PROXY_TOOL_BLOCK_DEDUP = of(Kind::Boolean).default("false").live()
            .means("drop a call that is identical to an earlier one of the turn, in name and arguments");
        PROXY_TOOL_BLOCK_DELIMITER = of(Kind::Verbatim).unset("nothing").live()
            .means("text between adjacent XML blocks; `true` is a blank line, and `\\n` and `\\t` are a line break and a tab");
        PROXY_TEXT_TOOLS = choice(&["auto", "on", "off"]).default("auto").live()
            .means("look for blocks in the model's text. `auto`: those of declared tools; without any, only if the request's text or the instructions hold `<use_tool`");
        PROXY_UNSUPPORTED_TOOLS = choice(&["ignore", "refuse"]).default("ignore").live()
            .means("tools that no client runs, such as `web_search`: `ignore` leaves them out and names them in `x-proxy-ignored-params`, `refuse` answers such a request with 400");
        PROXY_XML_ESCAPE = choice(&["verbatim", "entities"]).default("verbatim").live()
            .means("how `<`, `>` and `&` are written in the parameters of XML blocks");
        PROXY_STREAM_ARGUMENTS = choice(&["auto", "off"]).default("auto")
            .means("send the arguments of a call as the model writes them, where Codex's log has them; `off` sends each call whole, and keeps that log short. The header `x-proxy-stream-arguments: off` does it for one request");
        PROXY_REASONING = choice(&["content", "off"]).default("content").live()
            .means("show reasoning summaries as `reasoning_content`");
        PROXY_MAX_CHAT_CHOICES = integer(1, 128).default("5").live()
            .means("largest `n` of a request");
        PROXY_SSE_KEEPALIVE_MS = millis(0).default("15000").live()
            .means("silence of a stream before a comment is sent; `0` = none");
        PROXY_ALLOW_REMOTE_IMAGES = of(Kind::Boolean).default("false").live()
            .means("images may be named by an `http` or `https` address: they are fetched from here, and only from public addresses");
    }
    "Limits" {
        PROXY_TIMEOUT_MS = millis(1).default("600000").live()
            .means("time limit of a whole turn");
        PROXY_IDLE_TIMEOUT_MS = millis(1).default("300000").live()
            .means("time limit without any event from Codex; of a connection without a request; of a client that takes nothing of its answer");
        PROXY_MAX_CONCURRENT_TURNS = integer(1, 10_000).default("16").live()
            .means("turns that run at once");
        PROXY_QUEUE_MAX = integer(0, 100_000).default("64").live()
            .means("requests that may wait for a turn; one more is answered with 429. `0`: none waits");
        PROXY_QUEUE_WAIT_MS = millis(0).default("30000").live()
            .means("how long a request waits for a turn before it is answered with 429");
        PROXY_RATE_LIMIT_ENABLED = of(Kind::Boolean).default("false").live()
            .means("limit the requests of each key that ask for a turn");
        PROXY_RATE_LIMIT_MAX = integer(1, 1_000_000).default("60").live()
            .means("requests of a key in any window");
        PROXY_RATE_LIMIT_WINDOW_MS = millis(1).default("60000").live()
            .means("length of the window");
        PROXY_MAX_BODY_BYTES = bytes(1_024).default("33554432")
            .means("largest body of a request");
        PROXY_MAX_JSON_DEPTH = integer(8, 128).default("128")
            .means("deepest nesting of a request's JSON");
        PROXY_MAX_HEADER_BYTES = of(Kind::Bytes { min: 8_192, max: MOST_HEADER_BYTES }).default("65536")
            .means("largest head of a request; a larger one is answered with 431");
        PROXY_MAX_HEADERS = integer(32, 1_000).default("100")
            .means("most headers of a request; more are answered with 431");
        PROXY_MAX_CONNECTIONS = integer(1, 1_000_000).default("1024")
            .means("connections at once. One more takes the place of the one that has been without a request for the longest time; if all have one, it is answered with 429");
        PROXY_HEADER_TIMEOUT_MS = millis(1).default("10000")
            .means("time limit of a request's head, from its first byte; then it is answered with 408");
        PROXY_BODY_TIMEOUT_MS = millis(1).default("30000")
            .means("time limit of a request's body; then it is answered with 408");
        PROXY_MAX_STREAM_BUFFER_BYTES = bytes(65_536).default("8388608")
            .means("most that waits for a client that reads slowly; over it the turn is ended and the connection closed");
        PROXY_MAX_LINE_BYTES = bytes(65_536).default("67108864")
            .means("longest line of the child that is read; a longer one fails its own turn");
        PROXY_MAX_TOOL_CALLS = integer(1, 1_000_000).default("1024")
            .means("most calls of a turn that are taken");
        PROXY_MAX_ARGUMENT_BYTES = bytes(1_024).default("67108864")
            .means("most bytes of arguments, names and ids of a turn");
        PROXY_MAX_ANSWER_BYTES = bytes(65_536).default("16777216")
            .means("most text and reasoning of an answer, for each choice; over it the answer fails");
        PROXY_MAX_HELD_BYTES = bytes(1_024).default("1048576")
            .means("most text that is held back: after a call, before a call that the request demands, or for a block that is not complete");
    }
    "Continuity and stored responses" {
        PROXY_CONTINUITY = of(Kind::Boolean).default("on").live()
            .means("go on in the thread of the conversation's last turn, where the history is exactly that. The header `x-proxy-continuity` (`on` or `off`) wins");
        PROXY_CONTINUITY_MAX = integer(1, 100_000).default("64")
            .means("threads that are kept, those with unanswered calls included: the oldest of whoever has most goes first. Codex has about 1 MB for each");
        PROXY_CONTINUITY_TTL_MS = millis(1).default("600000")
            .means("how long a thread is kept after its turn");
        PROXY_CONTINUITY_MAX_BYTES = bytes(1_024).default("67108864")
            .means("most bytes of conversations in threads that are kept");
        PROXY_RESPONSES_STORE = of(Kind::Boolean).default("on").live()
            .means("keep responses (unless a request has `store: false`), so that they can be asked for again and gone on from");
        PROXY_RESPONSES_STORE_MAX_AGE_DAYS = integer(1, 36_500).default("30").live()
            .means("days for which a conversation of responses is kept after its last use");
        PROXY_RESPONSES_STORE_MAX_BYTES = bytes(1_048_576).default("1073741824").live()
            .means("most bytes of responses that are kept: conversations unused for longest go first");
        PROXY_KEEP_REASONING_BYTES = integer(0, 1_099_511_627_776).default("67108864").live()
            .means("most bytes of encrypted reasoning that are kept in memory until the results of its calls come, so that the model goes on from its thoughts; 0 keeps none");
    }
    "Children" {
        WORKER_COUNT = integer(1, 64).default("1")
            .means("Codex children of `serve`");
        WORKER_BACKOFF_INITIAL_MS = millis(1).default("500")
            .means("pause before a lost child is started again; each failure doubles it");
        WORKER_BACKOFF_MAX_MS = millis(1).default("5000")
            .means("longest such pause");
        WORKER_HANDSHAKE_TIMEOUT_MS = millis(1).default("15000")
            .means("time limit of a child's handshake, and of waiting for another child that is starting in the same home");
        WORKER_REQUEST_TIMEOUT_MS = millis(1).default("30000")
            .means("time limit of one request to the child");
        WORKER_SHUTDOWN_GRACE_MS = millis(0).default("5000")
            .means("at a stop: how long running answers may go on, and then the pause between two ways of stopping the child: closed input, SIGTERM, SIGKILL");
    }
    "Logs, metrics and files" {
        PROXY_LOG = of(Kind::LogFilter).unset("`info` for `serve`, else `error`").live()
            .means("log level on standard error, or `target=level` pairs; `codex=debug` shows what the child writes, or where that comes from");
        PROXY_LOG_FORMAT = choice(&["text", "json"]).unset("`text` on a terminal, else `json`").live()
            .means("form of the log's lines");
        PROXY_LOG_CONTENT = of(Kind::Boolean).default("false")
            .means("log requests and answers, arguments included, under the target `content`; nothing else ever logs them");
        PROXY_ENABLE_METRICS = of(Kind::Boolean).default("true")
            .means("serve `/metrics`");
        PROXY_METRICS_ALLOW_LOOPBACK = of(Kind::Boolean).default("false")
            .means("a server on loopback serves `/metrics` without a key to requests for `localhost`, `127.0.0.1` or `[::1]` with its port that have no header of a proxy (`Forwarded`, `Via`, `X-Forwarded-For`, …)");
        PROXY_USAGE_MAX_AGE_DAYS = integer(1, 36_500).default("400").live()
            .means("days for which it is kept what each turn used, for `/v1/usage`");
        PROXY_OTEL_EXPORTER_URL = of(Kind::Url).unset("none are sent")
            .means("collector that traces are sent to as OTLP over HTTP, for example `http://127.0.0.1:4318`; `/v1/traces` is added where there is no path. Only in a build with the feature `otlp`");
        PROXY_CAPTURE_DIR = of(Kind::Path).unset("none are kept").live()
            .means("folder for records of requests and their turns, which `codex-completions replay` plays again (docs/captures.md). Nothing that was said can be read in them, unless `PROXY_LOG_CONTENT` is on. It is made if it is not there");
        PROXY_CAPTURE_MAX_BYTES = bytes(1_048_576).default("268435456").live()
            .means("most bytes of records that are kept; the oldest make room");
        PROXY_DATA_DIR = of(Kind::Path).unset("`~/.local/share/codex-completions` (macOS: `~/Library/Application Support/codex-completions`)")
            .means("everything of ours on disk");
        PROXY_CONFIG = of(Kind::Path).unset("`config.toml` in the data folder, if it is there")
            .means("the TOML file (also `--config`); cannot stand in that file itself");
    }
}

const fn integer(min: u64, max: u64) -> Variable {
    Variable::new(Kind::Integer { min, max })
}

const fn millis(min: u64) -> Variable {
    Variable::new(Kind::Millis { min, max: YEAR_MS })
}

const fn bytes(min: u64) -> Variable {
    Variable::new(Kind::Bytes { min, max: TERABYTE })
}

const fn choice(names: &'static [&'static str]) -> Variable {
    Variable::new(Kind::Choice(names))
}

const fn of(kind: Kind) -> Variable {
    Variable::new(kind)
}
