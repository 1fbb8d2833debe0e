"""Runs the kit against our server and against other gateways, each in front of the scripted model.

`scripts/conformance` calls it. Only the standard library is needed.
"""

import argparse
import datetime
import json
import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/conformance.md"
PAGE = ROOT / "docs/conformance.html"
KEY = "sk-a-long-enough-key-of-a-test-0123456789"
MODEL = "gpt-5.5"
LISTENING_WITHIN = 120


class Process:
    """A process that ends with its block; a line of its output can be waited for.

    What it prints goes into a file: a pipe that nobody reads would stop it once it is full.
    """

    def __init__(self, command, environment=None, folder=None):
        environment = {**os.environ, **(environment or {})}
        self.log = tempfile.NamedTemporaryFile()
        self.process = subprocess.Popen(
            [str(word) for word in command], env=environment, cwd=folder,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def line_with(self, pattern):
        def found():
            # Only whole lines: the last one may still be written.
            lines = self.words().rpartition("\n")[0]
            match = re.search(pattern, lines)
            return match and match.group(1)

        return self.until("printed what was waited for", found)

    def until_it_listens(self, port):
        def listens():
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return True
            except OSError:
                return False

        self.until("listens", listens)

    def until(self, what, happens):
        """Asks until it happens, and gives what came of it."""
        started = time.monotonic()
        while time.monotonic() - started < LISTENING_WITHIN:
            result = happens()
            if result:
                return result
            if self.process.poll() is not None:
                raise SystemExit(f"{self.process.args[0]} ended: {self.words()[-500:]}")
            time.sleep(0.1)
        raise SystemExit(f"{self.process.args[0]} never {what}: {self.words()[-500:]}")

    def words(self):
        with open(self.log.name, "rb") as log:
            return log.read().decode(errors="replace")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def test(built, base_url, scripted_url, more):
    command = [built / "codex-completions", "conformance", "--base-url", base_url, "--model", MODEL,
               "--scripted-url", scripted_url, "--json", *more]
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE)
    if done.returncode == 2:
        raise SystemExit("the kit could not run")
    return json.loads(done.stdout)


def ours(built, codex, page):
    with Process([built / "scripted-model"]) as model, tempfile.TemporaryDirectory() as folder:
        upstream = model.line_with(r"(http://\S+)")
        environment = {
            "CODEX_BIN": codex, "PROXY_DATA_DIR": folder, "PROXY_API_KEY": KEY,
            "PROXY_UPSTREAM_BASE_URL": upstream, "PROXY_UPSTREAM_RETRIES": "0",
            # Far more often than anybody needs, so that the silences of the scenarios see some.
            "PROXY_SSE_KEEPALIVE_MS": "500",
        }
        with Process([built / "codex-completions", "serve", "--port", "0"], environment, folder) as server:
            base_url = server.line_with(r"base URL\s+(http://\S+)")
            more = ["--api-key", KEY] + (["--html", page] if page else [])
            return test(built, base_url, upstream.removesuffix("/v1"), more)


def smg(gateways, upstream, _folder):
    port = free_port()
    command = [gateways / "python/bin/smg", "launch", "--backend", "openai", "--history-backend", "none",
               "--host", "127.0.0.1", "--port", port, "--log-level", "warn",
               # After the failures that are asked for, it would let no more requests through.
               "--disable-circuit-breaker", "--disable-retries", "--disable-health-check",
               "--prometheus-port", free_port(), "--worker-urls", upstream]
    return command, {}, port, ["--header", "authorization: Bearer none"]


def litellm(gateways, upstream, folder):
    port = free_port()
    config = Path(folder) / "litellm.yaml"
    config.write_text(
        f"model_list:\n  - model_name: {MODEL}\n    litellm_params:\n      model: openai/{MODEL}\n"
        f"      api_base: {upstream}/v1\n      api_key: none\n"
        # Tried again, a failure that is asked for would come three times.
        "router_settings:\n  num_retries: 0\nlitellm_settings:\n  num_retries: 0\n"
    )
    command = [gateways / "python/bin/litellm", "--host", "127.0.0.1", "--port", port, "--config", config]
    environment = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}
    return command, environment, port, ["--api-key", KEY]


def portkey(gateways, upstream, _folder):
    port = free_port()
    script = gateways / "node/node_modules/@portkey-ai/gateway/build/start-server.js"
    headers = ["authorization: Bearer none", "x-portkey-provider: openai",
               f"x-portkey-custom-host: {upstream}/v1"]
    more = [word for header in headers for word in ("--header", header)]
    return ["node", script, f"--port={port}", "--headless"], {}, port, more


PEERS = {"smg": smg, "litellm": litellm, "portkey": portkey}


def installed_version(name, gateways):
    """As it was installed, which `GATEWAYS` may have done."""
    if name == "portkey":
        package = gateways / "node/node_modules/@portkey-ai/gateway/package.json"
        return json.loads(package.read_text())["version"]
    ask = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    return subprocess.run([gateways / "python/bin/python", "-c", ask, name], text=True,
                          stdout=subprocess.PIPE, check=True).stdout.strip()


def peer(start, built, gateways):
    with Process([built / "scripted-model", "--for-gateways"]) as model, tempfile.TemporaryDirectory() as folder:
        upstream = model.line_with(r"(http://\S+)").removesuffix("/v1")
        command, environment, port, more = start(gateways, upstream, folder)
        with Process(command, environment, folder) as gateway:
            gateway.until_it_listens(port)
            base_url = f"http://127.0.0.1:{port}/v1"
            gateway.until("answered", lambda: answers(base_url, more))
            return test(built, base_url, upstream, more)


def answers(base_url, more):
    """Whether a right answer comes: listening and being ready are two things."""
    headers = {"content-type": "application/json"}
    for name, value in zip(more[::2], more[1::2]):
        if name == "--api-key":
            headers["authorization"] = f"Bearer {value}"
        else:
            key, text = value.split(":", 1)
            headers[key] = text.strip()
    body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "[[text:Hello.]]"}]})
    request = urllib.request.Request(f"{base_url}/chat/completions", body.encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status == 200
    except OSError:
        return False


def cell(rule):
    if rule["outcome"] == "passed":
        return "pass"
    if rule["outcome"] == "failed":
        return "**fail**" if rule["level"] == "contract" else "not followed"
    return "not tested"


def table(reports):
    names = list(reports)
    rules = reports[names[0]]["rules"]
    by_id = {name: {rule["id"]: rule for rule in report["rules"]} for name, report in reports.items()}
    lines = []
    group = None
    for rule in rules:
        if rule["group"] != group:
            group = rule["group"]
            lines += ["", f"### {group}", "", f"| rule | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
        cells = [cell(by_id[name][rule["id"]]) for name in names]
        note = " (advice)" if rule["level"] == "advice" else ""
        lines.append(f"| `{rule['id']}`{note} | {' | '.join(cells)} |")
    return "\n".join(lines).strip()


def findings(reports):
    lines = []
    for name, report in reports.items():
        lines += [f"### {name}", ""]
        told = [rule for rule in report["rules"] if rule["outcome"] != "passed"]
        if not told:
            lines.append("Every rule was tested and passed.")
        untested = {}
        for rule in told:
            if rule["outcome"] == "failed":
                first = rule["faults"][0]
                seen = code(first["seen"][:220])
                failed = "failed" if rule["level"] == "contract" else "was not followed"
                lines.append(f"- `{rule['id']}` {failed} in `{first['scenario']}`: {seen}")
            else:
                # The same refusal in several scenarios is one reason.
                why = re.sub(r"^\S+ was answered with", "its requests were answered with", rule["why"])
                untested.setdefault(why, []).append(f"`{rule['id']}`")
        for why, ids in untested.items():
            lines.append(f"- Not tested ({code(why[:160])}): {', '.join(ids)}")
        lines.append("")
    return "\n".join(lines).strip()


def code(text):
    """A port differs from run to run, and a backtick would end the code."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text.replace("`", "'"))
    text = re.sub(r"(chatcmpl-|resp_|msg_|fc_|call_|rs_)[\w=+/-]{8,}", r"\1…", text)
    return f"`{text}`"


def sums(reports):
    lines = ["| server | passed | failed | not tested | advice followed |", "|---|---|---|---|---|"]
    for name, report in reports.items():
        advice = report["advice"]
        tested = advice["followed"] + advice["not_followed"]
        lines.append(f"| {name} | {report['passed']} | {report['failed']} | {report['not_tested']} "
                     f"| {advice['followed']} of {tested} |")
    return "\n".join(lines)


def write(reports):
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    cores = os.cpu_count()
    head = (f"Measured on {date} with `scripts/conformance` on {platform.system()} {platform.machine()}, "
            f"{cores} cores, Python {platform.python_version()}.")
    measured = "\n\n".join([head, sums(reports), "## By rule\n\n" + table(reports), "## What was seen\n\n" + findings(reports)])
    text = DOCUMENT.read_text()
    begin, end = "<!-- measured: begin -->", "<!-- measured: end -->"
    before, rest = text.split(begin, 1)
    after = rest.split(end, 1)[1]
    DOCUMENT.write_text(f"{before}{begin}\n\n{measured}\n\n{end}{after}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--built", type=Path, required=True)
    options.add_argument("--codex", required=True)
    options.add_argument("--gateways", default="")
    options = options.parse_args()
    page = PAGE if options.gateways else None
    version = subprocess.run([options.built / "codex-completions", "--version"], text=True,
                             stdout=subprocess.PIPE, check=True).stdout.split()[-1]
    name = f"ours {version}"
    reports = {name: ours(options.built, options.codex, page)}
    if options.gateways:
        for peer_name, start in PEERS.items():
            peer_name += f" {installed_version(peer_name, Path(options.gateways))}"
            print(f"{peer_name} …", file=sys.stderr)
            reports[peer_name] = peer(start, options.built, Path(options.gateways))
        write(reports)
    print(sums(reports))
    for rule in reports[name]["rules"]:
        if rule["outcome"] != "passed":
            print(json.dumps(rule, ensure_ascii=False))
    return 0 if reports[name]["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
