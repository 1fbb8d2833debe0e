"""What people see of errors in the official OpenAI library and in LangChain: the text of the exception."""

import json
import os
from pathlib import Path
from typing import Any

from langchain_openai import ChatOpenAI
from openai import OpenAI

BASE_URL, API_KEY = os.environ["BASE_URL"], os.environ["API_KEY"]
CASES = json.loads((Path(__file__).parent.parent / "errors.json").read_text())


def openai(case: dict[str, Any], messages: list[Any], key: str) -> None:
    client = OpenAI(base_url=BASE_URL, api_key=key, max_retries=0, timeout=30)
    more = {"tools": case["tools"]} if "tools" in case else {}
    client.chat.completions.create(model=case["model"], messages=messages, **more)


def langchain(case: dict[str, Any], messages: list[Any], key: str) -> None:
    more = {"tools": case["tools"]} if "tools" in case else {}
    chat = ChatOpenAI(
        model=case["model"], base_url=BASE_URL, api_key=key, max_retries=0, timeout=30, use_responses_api=False
    )
    chat.invoke(messages, **more)


for library in (openai, langchain):
    for case in CASES:
        messages = [{"role": "user", "content": case["content"]}]
        try:
            library(case, messages, case.get("key", API_KEY))
        except Exception as error:
            print(f"{library.__name__}: {case['name']}\n  {error}")
        else:
            raise AssertionError(f"an answer instead of an error: {case['name']}")
