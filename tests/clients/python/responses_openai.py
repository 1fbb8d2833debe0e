"""The official OpenAI library: whole answers, the plain iterator, the `stream()` helper, and what
is kept on the server."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from openai import OpenAI
from openai.resources.responses import Responses
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel

from checks import API_KEY, BASE_URL, MODEL, Answer, Call, Failure, failure_in, same
from responses_checks import FINISHES, Turn, recorded, run


class Wanted(BaseModel):
    wanted: str


FORMAT = {
    "type": "json_schema",
    "name": "wanted",
    "strict": True,
    "schema": {**Wanted.model_json_schema(), "additionalProperties": False},
}


def responses(key: str = API_KEY) -> Responses:
    return OpenAI(base_url=BASE_URL, api_key=key, max_retries=0, timeout=30).responses


class Library:
    """What all ways have in common."""

    finishes = FINISHES
    recorded = True

    def asked(self, key: str, **request: Any) -> Response: ...

    def ask(
        self,
        messages: list[Any],
        model: str = MODEL,
        key: str = API_KEY,
        tools: Sequence[Any] = (),
    ) -> Answer:
        flat = [{"type": tool["type"], **tool["function"]} for tool in tools]
        return from_response(self.asked(key, model=model, input=messages, tools=flat), model)

    def follow(self, text: str, previous: str | None = None) -> Turn:
        answer = self.asked(API_KEY, model=MODEL, input=text, previous_response_id=previous)
        return Turn(answer.output_text, answer.id)

    def user(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def result(self, call: Call, output: str) -> Any:
        return {"type": "function_call_output", "call_id": call.id, "output": output}


class Whole(Library):
    title = "create"
    streams = False

    def asked(self, key: str, **request: Any) -> Response:
        return responses(key).create(**request)

    def structured(self, text: str) -> Wanted:
        return responses().parse(model=MODEL, input=text, text_format=Wanted).output_parsed


class Iterated(Library):
    title = "create with stream"
    streams = True

    def asked(self, key: str, **request: Any) -> Response:
        return joined(responses(key).create(**request, stream=True))

    def structured(self, text: str) -> Wanted:
        answer = self.asked(API_KEY, model=MODEL, input=text, text={"format": FORMAT})
        return Wanted.model_validate_json(answer.output_text)


class Helper(Library):
    title = "the stream helper"
    streams = True
    recorded = False

    def asked(self, key: str, **request: Any) -> Response:
        text, calls = "", []
        with responses(key).stream(**request) as stream:
            for event in stream:
                match event.type:
                    case "response.output_text.delta":
                        text += event.delta
                    case "response.function_call_arguments.done":
                        calls.append(event.arguments)
            answer = stream.get_final_response()
        same("text of the events", text, answer.output_text)
        outputs = [item for item in answer.output if item.type == "function_call"]
        same("calls of the events", calls, [item.arguments for item in outputs])
        return answer

    def structured(self, text: str) -> Wanted:
        with responses().stream(model=MODEL, input=text, text_format=Wanted) as stream:
            return stream.get_final_response().output_parsed


def from_response(response: Response, model: str) -> Answer:
    same("object", response.object, "response")
    same("model", response.model, model)
    same("start of the id", response.id[:5], "resp_")
    same("error", response.error, None)
    items = [item for item in response.output if item.type == "function_call"]
    same("unfinished calls", [item for item in items if item.status != "completed"], [])
    calls = [Call(item.call_id, item.name, json.loads(item.arguments)) for item in items]
    usage = {
        "prompt": response.usage.input_tokens,
        "cached": response.usage.input_tokens_details.cached_tokens,
        "completion": response.usage.output_tokens,
        "reasoning": response.usage.output_tokens_details.reasoning_tokens,
        "total": response.usage.total_tokens,
    }
    return Answer(response.output_text, calls, response.status, usage, response.output)


def joined(events: Iterable[ResponseStreamEvent]) -> Response:
    """The response of the last event, after the events before have told the same."""
    texts, arguments, items, last = {}, {}, [], None
    for count, event in enumerate(events):
        same("events are counted", event.sequence_number, count)
        same("nothing after the end", getattr(last, "type", "") == "response.completed", False)
        last = event
        match event.type:
            case "response.output_text.delta":
                texts[event.item_id] = texts.get(event.item_id, "") + event.delta
            case "response.function_call_arguments.delta":
                arguments[event.item_id] = arguments.get(event.item_id, "") + event.delta
            case "response.output_item.done":
                same("items are counted", event.output_index, len(items))
                items.append(event.item)
    same("the last event", last.type, "response.completed")
    same("the items of the stream", last.response.output, items)
    messages = {item.id: item.content[0].text for item in items if item.type == "message"}
    same("the texts of the stream", texts, messages)
    calls = {item.id: item.arguments for item in items if item.type == "function_call"}
    same("the arguments of the stream", arguments, calls)
    return last.response


def stored() -> None:
    text = "what was said [[text:an answer]]"
    answer = responses().create(model=MODEL, input=text, metadata={"topic": "notes"})

    read = responses().retrieve(answer.id)
    same("output", (read.output, read.output_text), (answer.output, "an answer"))
    same("metadata and usage", (read.metadata, read.usage), ({"topic": "notes"}, answer.usage))

    items = [item.to_dict() for item in responses().input_items.list(answer.id)]
    same("input items", [(item["type"], item["role"]) for item in items], [("message", "user")])
    same("content", items[0]["content"], [{"type": "input_text", "text": text}])

    # Only what still runs can be cancelled.
    cancelled = failure_in("ended", lambda: responses().cancel(answer.id))
    same("cancel", (cancelled.kind, cancelled.status), ("BadRequestError", 400))

    responses().delete(answer.id)
    gone = Failure("NotFoundError", 404, "response_not_found")
    same("after delete", failure_in(answer.id, lambda: responses().retrieve(answer.id)), gone)
    same("its items", failure_in(answer.id, lambda: responses().input_items.list(answer.id)), gone)

    secret = responses().create(model=MODEL, input="[[text:gone]]", store=False)
    same("never stored", failure_in(secret.id, lambda: responses().retrieve(secret.id)), gone)


run([Whole(), Iterated(), Helper()])
recorded("stored", "what is stored can be read, listed and deleted", stored)
