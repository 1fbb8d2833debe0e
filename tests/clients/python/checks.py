"""What every client must make of the scripted model's answers, whatever way it asks."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable, Protocol

import openai

BASE_URL = os.environ["BASE_URL"]
API_KEY = os.environ["API_KEY"]
MODEL = os.environ.get("MODEL", "demo")

# More than one byte a character, quotes, and repetitions that a careless joint would lose.
TEXT = 'Grüße, 世界 🎻: "ha ha ha" }} 11'

# What the scripted model says that every answer cost.
USAGE = {"prompt": 123, "cached": 100, "completion": 45, "reasoning": 7, "total": 168}

LONGEST_ID = 40

NAMES = ["get_weather", "get_time", "lookup"]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Runs {name}",
            "strict": True,
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "mark": {"type": "string"}},
                "required": ["city", "mark"],
                "additionalProperties": False,
            },
        },
    }
    for name in NAMES
]


@dataclass
class Call:
    id: str
    name: str
    arguments: dict[str, Any]


@dataclass
class Answer:
    text: str
    calls: list[Call]
    finish: str
    usage: dict[str, int]
    messages: list[Any]
    """The answer as the library wants it back in the next request."""


@dataclass
class Failure:
    kind: str
    status: int | None
    code: str | None


@dataclass
class Finishes:
    """What the finish is behind a text, and behind calls."""

    text: str
    calls: str


class Way(Protocol):
    """A way to ask with a library: whole, streamed, or with one of its helpers."""

    title: str
    streams: bool
    finishes: Finishes

    def ask(
        self,
        messages: list[Any],
        model: str = MODEL,
        key: str = API_KEY,
        tools: Sequence[Any] = (),
    ) -> Answer:
        """`tools` are those that may be called; to declare them always is no fault."""

    def user(self, text: str) -> Any: ...

    def result(self, call: Call, output: str) -> Any: ...


class Mismatch(Exception):
    pass


def same(what: str, actual: Any, expected: Any) -> None:
    if actual != expected:
        raise Mismatch(f"{what}\n  expected: {expected!r}\n  came:     {actual!r}")


def check(title: str, body: Callable[[], None]) -> None:
    try:
        body()
    except Mismatch as mismatch:
        sys.exit(f"FAILED {title}: {mismatch}")
    except BaseException:
        print(f"FAILED {title}", file=sys.stderr)
        raise
    print(f"ok {title}", flush=True)


CHAT_FINISHES = Finishes("stop", "tool_calls")


def run(ways: list[Way]) -> None:
    for way in ways:
        check(f"{way.title}: a text", lambda: text_turn(way))
        for count in (1, 3):
            check(f"{way.title}: {count} call(s) and back", lambda: round_trip(way, count))
        check(f"{way.title}: errors before the answer", lambda: early_errors(way))
        check(f"{way.title}: an error within the answer", lambda: late_error(way))


def text_turn(way: Way) -> None:
    answer = way.ask([way.user(f"{TEXT}[[echo]]")])
    expect_text(way, answer, TEXT)


def round_trip(way: Way, count: int) -> None:
    messages = [way.user(f"{TEXT} [[round-trip:{count}]]")]
    first = way.ask(messages, tools=TOOLS)
    same("names", [call.name for call in first.calls], NAMES[:count])
    arguments = [{"city": f"C{at}", "mark": TEXT} for at in range(count)]
    same("arguments", [call.arguments for call in first.calls], arguments)
    same("text beside calls", first.text, "")
    same("finish reason", first.finish, way.finishes.calls)
    same("usage", first.usage, USAGE)
    ids = [call.id for call in first.calls]
    same("ids differ", len(set(ids)), count)
    same("bad ids", [id for id in ids if not 0 < len(id) <= LONGEST_ID], [])

    outputs = [f"21 °C in {call.arguments['city']}" for call in first.calls]
    results = [way.result(call, output) for call, output in zip(first.calls, outputs)]
    second = way.ask([*messages, *first.messages, *results], tools=TOOLS)
    quoted = [f"{name}: {output}" for name, output in zip(NAMES, outputs)]
    expect_text(way, second, "\n".join(quoted))


def expect_text(way: Way, answer: Answer, text: str) -> None:
    same("text", answer.text, text)
    same("calls", answer.calls, [])
    same("finish reason", answer.finish, way.finishes.text)
    same("usage", answer.usage, USAGE)


def early_errors(way: Way) -> None:
    hello, nobody = [way.user("hello")], {"model": "no-such-model"}
    limited, broken = [way.user("[[http:429]]")], [way.user("[[http:500]]")]
    refusals = [
        ("no-such-model", hello, nobody, "NotFoundError", 404, "model_not_found"),
        ("API key", hello, {"key": "wrong"}, "AuthenticationError", 401, "invalid_api_key"),
        ("no more requests", limited, {}, "RateLimitError", 429, "rate_limit_exceeded"),
        ("demand", broken, {}, "InternalServerError", 502, "upstream_error"),
    ]
    if hasattr(way, "result"):
        orphan = [*hello, way.result(Call("call_nobody", "lookup", {}), "42")]
        refusals.append(("call_nobody", orphan, {}, "BadRequestError", 400, "invalid_value"))
    for told, messages, options, *expected in refusals:
        failure = failure_in(told, lambda: way.ask(messages, **options))
        same("error", failure, Failure(*expected))


def late_error(way: Way) -> None:
    """The model's connection ends in the middle of a text."""
    cut = [way.user("[[slow-cut:500]]")]
    failure = failure_in("broke before the answer was complete", lambda: way.ask(cut))
    # Nobody can take back the status of a stream that has begun.
    kind, status = ("APIError", None) if way.streams else ("InternalServerError", 502)
    same("error", failure, Failure(kind, status, "stream_cut"))


def failure_in(told: str, body: Callable[[], Any]) -> Failure:
    """What becomes of a request that fails; its message has `told` in it."""
    try:
        answer = body()
    except openai.APIError as error:
        same(f"{told} is in: {error.message}", told in error.message, True)
        # LangChain derives classes of its own from those of OpenAI.
        kind = next(kind for kind in type(error).__mro__ if kind.__module__ == "openai")
        return Failure(kind.__name__, getattr(error, "status_code", None), error.code)
    raise Mismatch(f"an error\n  came: {answer!r}")
