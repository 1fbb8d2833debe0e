"""What every client of `/v1/responses` must make of the scripted model's answers. A recorder stands
between it and the server, and takes orders: where to write what is said, and to restart the server.
"""

import json
import os
from dataclasses import dataclass
from typing import Any, Callable, Protocol
from urllib.request import Request, urlopen

import checks
from checks import NAMES, TEXT, Failure, Finishes, check, failure_in, same

FINISHES = Finishes("completed", "completed")

RECALLED = """user: first [[text:one]]
assistant: one
user: second [[text:two]]
assistant: two
user: third [[recall]]"""


@dataclass
class Turn:
    text: str
    id: str


class Way(checks.Way, Protocol):
    """As in chat, and what follows. A library that runs the tools by itself has
    `runs(text, execute)` in the place of `result`: it gives the last text, and
    `execute(name, arguments)` is what the tools do."""

    recorded: bool
    """Whether its transcripts are kept; of ways that say the same, one is enough."""

    def structured(self, text: str) -> Any:
        """Asks for an object whose one field `wanted` is a string."""

    def follow(self, text: str, previous: str | None = None) -> Turn:
        """Asks after the response with that id, or as the first turn."""


def recorded(transcript: str, title: str, body: Callable[[], None]) -> None:
    """Runs a check, and keeps what is said in the transcript of that name."""
    order(f"record/{transcript}")
    check(title, body)
    order("pause")


def run(ways: list[Way]) -> None:
    for way in ways:
        trip = runs_tools if hasattr(way, "runs") else checks.round_trip
        each = [
            ("text", "a text", checks.text_turn),
            ("history", "what was said goes back", history),
            ("one-call", "a call and back", lambda way: trip(way, 1)),
            ("three-calls", "three calls and back", lambda way: trip(way, 3)),
            ("structured", "an object of a schema", structured),
            ("three-turns", "three turns and a restart", three_turns),
            ("early-errors", "errors before the answer", checks.early_errors),
            ("late-error", "an error within the answer", checks.late_error),
        ]
        for transcript, title, body in each:
            title = f"{way.title}: {title}"
            if way.recorded:
                recorded(transcript, title, lambda: body(way))
            else:
                check(title, lambda: body(way))


def history(way: Way) -> None:
    """The client keeps the conversation, with reasoning in it, and sends it again."""
    messages = [way.user("first [[reasoning]]")]
    first = way.ask(messages)
    same("the first text", first.text, "Answer after reasoning.")
    second = way.ask([*messages, *first.messages, way.user("second [[recall]]")])
    said = ["user: first [[reasoning]]", f"assistant: {first.text}", "user: second [[recall]]"]
    same("what the model received", second.text, "\n".join(said))


def structured(way: Way) -> None:
    """The model tells the schema that it was given."""
    schema = json.loads(way.structured("[[schema]]").wanted)
    told = {name: schema[name] for name in ("type", "required", "additionalProperties")}
    expected = {"type": "object", "required": ["wanted"], "additionalProperties": False}
    same("schema", told, expected)
    types = {name: field["type"] for name, field in schema["properties"].items()}
    same("properties", types, {"wanted": "string"})


def runs_tools(way: Way, count: int) -> None:
    calls = []

    def execute(name: str, arguments: dict[str, Any]) -> str:
        calls.append((name, arguments))
        return f"21 °C in {arguments['city']}"

    text = way.runs(f"{TEXT} [[round-trip:{count}]]", execute)
    names = list(enumerate(NAMES[:count]))
    same("calls", calls, [(name, {"city": f"C{at}", "mark": TEXT}) for at, name in names])
    same("text", text, "\n".join(f"{name}: 21 °C in C{at}" for at, name in names))


def three_turns(way: Way) -> None:
    """The server remembers, also over its own end."""
    first = way.follow("first [[text:one]]")
    same("the first text", first.text, "one")
    order("restart")
    second = way.follow("second [[text:two]]", first.id)
    same("the second text", second.text, "two")
    third = way.follow("third [[recall]]", second.id)
    same("what the model received", third.text, RECALLED)
    failure = failure_in("resp_nobody", lambda: way.follow("hello", "resp_nobody"))
    same("error", failure, Failure("BadRequestError", 400, "previous_response_not_found"))


def order(what: str) -> None:
    """Without a recorder the program asks a server of its caller's, and nothing is kept."""
    if recorder := os.environ.get("RECORDER"):
        with urlopen(Request(f"{recorder}/{what}", method="POST")) as response:
            same(what, response.status, 200)
