"""LangChain's ChatOpenAI: whole answers and streamed ones, with bound tools."""

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from checks import API_KEY, BASE_URL, CHAT_FINISHES, MODEL, TOOLS, Answer, Call, run, same


def model_with_tools(model: str, key: str) -> Any:
    return ChatOpenAI(
        model=model, base_url=BASE_URL, api_key=key, max_retries=0, timeout=30, stream_usage=True
    ).bind_tools(TOOLS)


class Library:
    """What both ways have in common."""

    finishes = CHAT_FINISHES

    def user(self, text: str) -> Any:
        return HumanMessage(text)

    def result(self, call: Call, output: str) -> Any:
        return ToolMessage(output, tool_call_id=call.id, name=call.name)


class Invoked(Library):
    title = "invoke"
    streams = False

    def ask(self, messages: list[Any], model: str = MODEL, key: str = API_KEY, **_: Any) -> Answer:
        return from_message(model_with_tools(model, key).invoke(messages))


class Streamed(Library):
    title = "stream"
    streams = True

    def ask(self, messages: list[Any], model: str = MODEL, key: str = API_KEY, **_: Any) -> Answer:
        whole = None
        for chunk in model_with_tools(model, key).stream(messages):
            whole = chunk if whole is None else whole + chunk
        return from_message(whole)


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
    return Answer(message.text, calls, message.response_metadata["finish_reason"], usage, [message])


run([Invoked(), Streamed()])
