"""The task: a prompt that makes the scripted model act as an agent, tools that work in $WORK, and the checks.

The scripted model writes a file, then reads it and lists its folder (or runs a command) with two calls in one answer,
then quotes what both returned.
"""

import os
import subprocess
import sys
from pathlib import Path

BASE_URL = os.environ["BASE_URL"]
API_KEY = os.environ["API_KEY"]
MODEL = os.environ["MODEL"]
VARIANT = os.environ["VARIANT"]
WORK = Path(os.environ["WORK"])

SYSTEM = "You are an agent that works in a folder."
PROMPT = "Write a file, then look at it. [[agent]]"
LINE = "Written by the agent."
LISTING = "2 entries: agent.txt, note.txt"

calls = []


def write_file(path: str, content: str) -> str:
    """Write a file.

    Args:
        path: where, relative to the folder
        content: its new text
    """
    calls.append("write_file")
    (WORK / path).write_text(content)
    return f"Wrote {len(content)} characters."


def read_file(path: str) -> str:
    """Read a file.

    Args:
        path: where, relative to the folder
    """
    calls.append("read_file")
    return (WORK / path).read_text()


def list_files(path: str) -> str:
    """List the entries of a folder.

    Args:
        path: where, relative to the folder
    """
    calls.append("list_files")
    names = sorted(entry.name for entry in (WORK / path).iterdir())
    return f"{len(names)} entries: {', '.join(names)}"


TOOLS = [write_file, read_file, list_files]

(WORK / "note.txt").write_text("Here before.\n")


def check(text, streamed=None):
    """The file is there, each tool ran once, and the model's last text quotes what the tools returned."""
    expect((WORK / "agent.txt").read_text().strip() == LINE, "the file has other content")
    expect(calls[0] == "write_file" and sorted(calls[1:]) == ["list_files", "read_file"], f"the calls were {calls}")
    expect("The agent is done." in text and LINE in text and LISTING in text, f"the final text is {text!r}")
    if streamed is not None:
        expect(len(streamed) > 1 and "".join(streamed) == text, f"the streamed pieces are {streamed}")
    print(text)


def check_program(command, environment=None, quote="answer 42"):
    """Runs a program that has tools of its own; the file is there, and the output quotes it and the other call's output."""
    done = subprocess.run(command, cwd=WORK, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, timeout=120)
    print(done.stdout)
    expect(done.returncode == 0, f"the program ended with {done.returncode}")
    expect((WORK / "agent.txt").read_text().strip() == LINE, "the file has other content")
    for part in ("The agent is done.", LINE, quote):
        expect(part in done.stdout, f"{part!r} is not in the output")


def expect(holds, message):
    if not holds:
        sys.exit(f"not as expected: {message}")
