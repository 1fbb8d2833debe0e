"""The official OpenAI library: whole answers, the plain iterator, and the `stream()` helper."""

import json
from collections.abc import Iterator
from typing import Any

from openai import OpenAI
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from checks import API_KEY, BASE_URL, CHAT_FINISHES, MODEL, TOOLS, Answer, Call, run, same


def client(key: str) -> OpenAI:
    return OpenAI(base_url=BASE_URL, api_key=key, max_retries=0, timeout=30)


class Library:
    """What all ways have in common."""

    finishes = CHAT_FINISHES

    def user(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def result(self, call: Call, output: str) -> Any:
        return {"role": "tool", "tool_call_id": call.id, "content": output}


class Whole(Library):
    title = "create"
    streams = False

    def ask(self, messages: list[Any], model: str = MODEL, key: str = API_KEY, **_: Any) -> Answer:
        answer = client(key).chat.completions.create(model=model, messages=messages, tools=TOOLS)
        return from_completion(answer, model)


class Iterated(Library):
    title = "create with stream"
    streams = True

    def ask(self, messages: list[Any], model: str = MODEL, key: str = API_KEY, **_: Any) -> Answer:
        chunks = client(key).chat.completions.create(
            model=model,
            messages=messages,
            tools=TOOLS,
            stream=True,
            stream_options={"include_usage": True},
        )
        return joined(chunks, model)


class Helper(Library):
    title = "the stream helper"
    streams = True

    def ask(self, messages: list[Any], model: str = MODEL, key: str = API_KEY, **_: Any) -> Answer:
        text, calls = "", []
        with client(key).chat.completions.stream(
            model=model,
            messages=messages,
            tools=TOOLS,
            stream_options={"include_usage": True},
        ) as stream:
            for event in stream:
                match event.type:
                    case "content.delta":
                        text += event.delta
                    case "tool_calls.function.arguments.done":
                        calls.append((event.name, event.parsed_arguments))
            answer = from_completion(stream.get_final_completion(), model)
        same("text of the events", text, answer.text)
        same("calls of the events", calls, [(call.name, call.arguments) for call in answer.calls])
        return answer


def from_completion(completion: ChatCompletion, model: str) -> Answer:
    same("object", completion.object, "chat.completion")
    same("model", completion.model, model)
    same("start of the id", completion.id[:9], "chatcmpl-")
    same("choices", [choice.index for choice in completion.choices], [0])
    choice = completion.choices[0]
    message = choice.message
    same("role", message.role, "assistant")
    calls = [
        Call(call.id, call.function.name, json.loads(call.function.arguments))
        for call in message.tool_calls or []
    ]
    usage = from_usage(completion.usage)
    return Answer(message.content or "", calls, choice.finish_reason, usage, [message])


def joined(chunks: Iterator[ChatCompletionChunk], model: str) -> Answer:
    """Puts the deltas together as the documentation of the API tells to."""
    text, calls, finishes, usage, ids, roles = "", [], [], None, set(), []
    for chunk in chunks:
        same("object", chunk.object, "chat.completion.chunk")
        same("model", chunk.model, model)
        same("nothing after the usage", usage, None)
        ids.add(chunk.id)
        usage = chunk.usage
        for choice in chunk.choices:
            same("nothing after the end", finishes, [])
            delta = choice.delta
            roles.extend([delta.role] if delta.role else [])
            text += delta.content or ""
            for call in delta.tool_calls or []:
                if call.index == len(calls):
                    same("type", call.type, "function")
                    calls.append({"id": call.id, "name": call.function.name, "arguments": ""})
                calls[call.index]["arguments"] += call.function.arguments or ""
            finishes.extend([choice.finish_reason] if choice.finish_reason else [])
    same("roles", roles, ["assistant"])
    same("ids", len(ids), 1)
    message = {
        "role": "assistant",
        "content": text or None,
        "tool_calls": [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in calls
        ],
    }
    calls = [Call(call["id"], call["name"], json.loads(call["arguments"])) for call in calls]
    return Answer(text, calls, ", ".join(finishes), from_usage(usage), [message])


def from_usage(usage: CompletionUsage | None) -> dict[str, int]:
    if usage is None:
        return {}
    return {
        "prompt": usage.prompt_tokens,
        "cached": usage.prompt_tokens_details.cached_tokens,
        "completion": usage.completion_tokens,
        "reasoning": usage.completion_tokens_details.reasoning_tokens,
        "total": usage.total_tokens,
    }


run([Whole(), Iterated(), Helper()])
