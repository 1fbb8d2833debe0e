"""The agents SDK, which runs the tools by itself: whole answers and streamed ones."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from agents import Agent, FunctionTool, OpenAIResponsesModel, Runner, set_tracing_disabled
from agents.result import RunResultBase
from openai import AsyncOpenAI
from pydantic import BaseModel

from checks import API_KEY, BASE_URL, MODEL, TOOLS, Answer, same
from responses_checks import FINISHES, Turn, run

# It would go to OpenAI.
set_tracing_disabled(True)


class Wanted(BaseModel):
    wanted: str


def agent(model: str = MODEL, key: str = API_KEY, **more: Any) -> Agent:
    client = AsyncOpenAI(base_url=BASE_URL, api_key=key, max_retries=0, timeout=30)
    answers = OpenAIResponsesModel(model, client)
    return Agent(name="Secretary", instructions="Be short.", model=answers, **more)


# One for all: a client's connections belong to the loop that they were made in.
LOOP = asyncio.new_event_loop()

Execute = Callable[[str, dict[str, Any]], str]


def tools(execute: Execute) -> list[FunctionTool]:
    def made(declared: dict[str, Any]) -> FunctionTool:
        async def invoke(_context: Any, arguments: str) -> str:
            return execute(declared["name"], json.loads(arguments))

        return FunctionTool(
            name=declared["name"],
            description=declared["description"],
            params_json_schema=declared["parameters"],
            on_invoke_tool=invoke,
        )

    return [made(tool["function"]) for tool in TOOLS]


class Library:
    """What both ways have in common."""

    finishes = FINISHES
    recorded = True

    async def asked(self, agent: Agent, text: Any, **options: Any) -> RunResultBase: ...

    def ask(self, messages: list[Any], model: str = MODEL, key: str = API_KEY) -> Answer:
        result = LOOP.run_until_complete(self.asked(agent(model, key), messages))
        tokens = result.context_wrapper.usage
        usage = {
            "prompt": tokens.input_tokens,
            "cached": tokens.input_tokens_details.cached_tokens,
            "completion": tokens.output_tokens,
            "reasoning": tokens.output_tokens_details.reasoning_tokens,
            "total": tokens.total_tokens,
        }
        said = result.to_input_list()[len(messages) :]
        return Answer(result.final_output, [], said[-1]["status"], usage, said)

    def runs(self, text: str, execute: Execute) -> str:
        return LOOP.run_until_complete(self.asked(agent(tools=tools(execute)), text)).final_output

    def structured(self, text: str) -> Wanted:
        return LOOP.run_until_complete(self.asked(agent(output_type=Wanted), text)).final_output

    def follow(self, text: str, previous: str | None = None) -> Turn:
        result = LOOP.run_until_complete(self.asked(agent(), text, previous_response_id=previous))
        return Turn(result.final_output, result.last_response_id)

    def user(self, text: str) -> Any:
        return {"role": "user", "content": text}


class Whole(Library):
    title = "run"
    streams = False

    async def asked(self, agent: Agent, text: Any, **options: Any) -> RunResultBase:
        return await Runner.run(agent, text, **options)


class Streamed(Library):
    title = "run_streamed"
    streams = True

    async def asked(self, agent: Agent, text: Any, **options: Any) -> RunResultBase:
        result = Runner.run_streamed(agent, text, **options)
        words = ""
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type.endswith("output_text.delta"):
                words += event.data.delta
        if isinstance(result.final_output, str):
            same("the text of the events", words, result.final_output)
        return result


run([Whole(), Streamed()])
