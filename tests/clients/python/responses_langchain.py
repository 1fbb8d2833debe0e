"""LangChain's ChatOpenAI with `use_responses_api`: whole answers and streamed ones, with tools."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from checks import API_KEY, BASE_URL, MODEL, Answer, Call, same
from responses_checks import FINISHES, Turn, run


class Wanted(BaseModel):
    wanted: str


def chat(model: str = MODEL, key: str = API_KEY) -> ChatOpenAI:
    return ChatOpenAI(
        model=model,
        base_url=BASE_URL,
        api_key=key,
        use_responses_api=True,
        max_retries=0,
        timeout=30,
    )


class Library:
    """What both ways have in common."""

    finishes = FINISHES
    recorded = True

    def asked(self, chain: Any, messages: Any, **options: Any) -> AIMessage: ...

    def ask(
        self,
        messages: list[Any],
        model: str = MODEL,
        key: str = API_KEY,
        tools: Sequence[Any] = (),
    ) -> Answer:
        return from_message(self.asked(chat(model, key).bind_tools(tools), messages))

    def follow(self, text: str, previous: str | None = None) -> Turn:
        message = self.asked(chat(), text, previous_response_id=previous)
        return Turn(message.text, message.response_metadata["id"])

    def user(self, text: str) -> Any:
        return HumanMessage(text)

    def result(self, call: Call, output: str) -> Any:
        return ToolMessage(output, tool_call_id=call.id, name=call.name)


class Invoked(Library):
    title = "invoke"
    streams = False

    def asked(self, chain: Any, messages: Any, **options: Any) -> AIMessage:
        return chain.invoke(messages, **options)

    def structured(self, text: str) -> Wanted:
        return shaped().invoke(text)


class Streamed(Library):
    title = "stream"
    streams = True

    def asked(self, chain: Any, messages: Any, **options: Any) -> AIMessage:
        whole = None
        for chunk in chain.stream(messages, **options):
            whole = chunk if whole is None else whole + chunk
        return whole

    def structured(self, text: str) -> Wanted:
        return list(shaped().stream(text))[-1]


def shaped() -> Any:
    return chat().with_structured_output(Wanted, method="json_schema", strict=True)


def from_message(message: AIMessage) -> Answer:
    same("calls that could not be read", message.invalid_tool_calls, [])
    calls = [Call(call["id"], call["name"], call["args"]) for call in message.tool_calls]
    tokens = message.usage_metadata
    usage = {
        "prompt": tokens["input_tokens"],
        "cached": tokens["input_token_details"]["cache_read"],
        "completion": tokens["output_tokens"],
        "reasoning": tokens["output_token_details"]["reasoning"],
        "total": tokens["total_tokens"],
    }
    return Answer(message.text, calls, message.response_metadata["status"], usage, [message])


run([Invoked(), Streamed()])
