// The overview: can turns be served, who is signed in, how much is left, and what to do next.

import { accountCard } from "./account.js";
import { element, fill, icon, setText, withCode } from "./dom.js";
import { hasModels, isSignedIn, listen, live } from "./live.js";
import { count, lasting, plural, timeOfDay } from "./words.js";

/// Times go on between two words of the server.
const REFRESHED_EVERY_MS = 5_000;

export function overview(signal) {
  const headline = element("p", { class: "headline", role: "status", data: { testid: "server-state" } });
  const account = accountCard(signal);
  const codex = card("Codex", "codex");
  const queue = card("Turns now", "queue");
  const steps = card("Next steps", "steps");

  // What the cards say was told then, and may have changed since.
  const marks = [account, codex, queue].map(({ card: marked }) => {
    const mark = element("p", { class: "muted small-text", hidden: true });
    marked.querySelector("h2").after(mark);
    return mark;
  });

  const update = () => {
    const status = live.status;
    for (const mark of marks) {
      mark.hidden = !status || isCurrent();
      setText(mark, `As of ${timeOfDay(live.statusAt)}`);
    }
    fill(headline, ...headlineOf(status));
    account.update(status);
    fill(codex.body, ...(status ? codexParts(status) : placeholder()));
    fill(queue.body, ...(status ? queueParts(status) : placeholder()));
    fill(steps.body, stepsOf(status));
  };
  listen(["status", "turns", "turn", "connection"], update, signal);
  const timer = setInterval(update, REFRESHED_EVERY_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
  update();

  return [
    element("div", { class: "view-head" }, element("h1", {}, "Overview"), headline),
    element("div", { class: "overview-grid" }, account.card, steps.card, codex.card, queue.card),
  ];
}

function card(title, testid) {
  const id = `card-${testid}`;
  const body = element("div", { class: "stack" });
  const made = element(
    "section",
    { class: "card", "aria-labelledby": id, data: { testid } },
    element("h2", { id }, title),
    body,
  );
  return { card: made, body };
}

const placeholder = () => [element("p", { class: "muted" }, "One moment…")];

const isCurrent = () => live.connection === "open";

function headlineOf(status) {
  if (live.connection === "lost") return [pill("bad", "Unknown"), live.trouble];
  if (!status || !isCurrent()) return [pill("wait", "Connecting")];
  if (status.ready) {
    const models = hasModels()
      ? "Everything is ready: clients can ask any model."
      : "Only the model `demo` can be asked until somebody signs in.";
    return [pill("good", "Ready"), withCode(models)];
  }
  if (status.reason === "codex_untested") {
    const effect = "This Codex has failed its canary: only the model `demo` can be asked. `doctor` shows what to do.";
    return [pill("bad", "Untested"), withCode(effect)];
  }
  const words = {
    codex_starting: ["Starting", "Codex is being started. Requests wait for it."],
    codex_restarting: ["Restarting", "Codex was lost and is being started again. Requests wait for it."],
    shutting_down: ["Stopping", "The server is being stopped."],
  }[status.reason] ?? ["Not ready", status.reason ?? ""];
  return [pill("wait", words[0]), words[1]];
}

export function pill(kind, text) {
  const sign = { good: "check", wait: "wait", bad: "alert", plain: "info" }[kind];
  return element("span", { class: `pill ${kind}` }, icon(sign, kind === "wait" ? "icon turning" : "icon"), text);
}

function facts(...rows) {
  return element(
    "dl",
    { class: "facts" },
    rows
      .filter(Boolean)
      .map(([term, ...value]) => element("div", {}, element("dt", {}, term), element("dd", {}, ...value))),
  );
}

function codexParts(status) {
  const { idle, held } = status.kept_threads;
  const several = status.workers.length > 1;
  const workers = status.workers.map((worker, index) => workerRow(worker, several ? `Child ${index + 1}` : "Child"));
  return [
    facts(
      ...(workers.length > 0 ? workers : [["Child", pill("wait", "Starting")]]),
      ["Restarts", count(status.restarts)],
      ["Kept conversations", held > 0 ? `${count(idle)} idle, ${count(held)} waiting for results` : count(idle)],
      ["Server", upFor(status)],
    ),
  ];
}

function upFor({ uptime_seconds: told }) {
  return isCurrent() ? `up for ${lasting(told + (Date.now() - live.statusAt) / 1000)}` : `was up for ${lasting(told)}`;
}

function workerRow(worker, name) {
  if (worker.state === "ready") {
    return [
      name,
      readyPill(worker),
      ` codex ${worker.codex}`,
      worker.broken_promise
        && element(
          "p",
          { class: "muted" },
          `Breaks the promise ${worker.broken_promise}: ` + `${worker.canary_failed}`,
        ),
      worker.git_attribution
        && element(
          "p",
          { class: "muted" },
          "The account has Codex add a message about the attribution of commits to every prompt.",
        ),
      worker.not_renewed && element("p", { class: "muted" }, `Not renewed: ${worker.not_renewed}`),
      wholeCalls(worker),
    ];
  }
  if (worker.state === "restarting") {
    return [
      name,
      pill("wait", "Restarting"),
      element(
        "p",
        { class: "muted" },
        `${worker.reason} (${plural(worker.failures, "failure")}; next try in `
          + `${lasting(worker.next_try_ms / 1000)})`,
      ),
    ];
  }
  return [name, pill("wait", worker.state === "stopped" ? "Stopped" : "Starting")];
}

function readyPill({ canary }) {
  if (!isCurrent()) {
    return pill("plain", "Was ready");
  }
  return { checking: pill("wait", "Checking"), failed: pill("bad", "Untested") }[canary] ?? pill("good", "Ready");
}

/// Why a child's tool calls are sent whole, if they are.
function wholeCalls({ early_arguments: state, early_arguments_lost: reason }) {
  const why = { lost: reason, off: "`PROXY_STREAM_ARGUMENTS` is off" }[state];
  return why && element("p", { class: "muted" }, "Tool calls are sent whole: ", state === "off" ? withCode(why) : why);
}

function queueParts(status) {
  const { running, waiting, limit, queue_max: most, keys = {} } = status.turns;
  const busy = Object.entries(keys);
  return [
    element(
      "div",
      { class: "figures" },
      figure(running, "running", `of ${count(limit)} at once`),
      figure(waiting, "waiting", `of ${count(most)} at most`),
    ),
    busy.length > 0
      && facts(
        ...busy.map(([name, { running: now, waiting: later }]) => [
          `Key ${name}`,
          `${count(now)} running, ${count(later)} waiting`,
        ]),
      ),
  ];
}

function figure(value, name, remark) {
  return element(
    "div",
    { class: "figure" },
    element("span", { class: "figure-value" }, count(value)),
    element("span", {}, name),
    element("span", { class: "muted" }, remark),
  );
}

/// What a newcomer has done, and what comes next.
function stepsOf(status) {
  const seen = [...live.turns.values()];
  const isFromHere = (turn) => turn.client === null || turn.client === "browser";
  const signedIn = isSignedIn();
  const steps = [
    step(
      seen.length > 0,
      "Try it without an account",
      "The model ",
      element("code", {}, "demo"),
      " is built in. Ask it in the ",
      link("playground"),
      " and answer its calls by hand.",
    ),
    status?.upstream
      ? step(true, "An upstream of your own", `Turns go to ${status.upstream}; no login is needed.`)
      : step(
          signedIn,
          "Sign in",
          signedIn
            ? "Your Codex login is used for all models."
            : "Choose one of the two ways on this page. Then all models can be asked.",
        ),
    step(
      seen.some((turn) => !isFromHere(turn)),
      "Connect a client",
      "Settings to copy for Obsidian, the SDKs and others are under ",
      link("clients"),
      "; watch it arrive under ",
      link("turns"),
      ".",
    ),
  ];
  return element("ol", { class: "steps" }, steps);
}

function step(done, title, ...words) {
  return element(
    "li",
    { class: done ? "done" : "" },
    element("span", { class: "step-sign" }, done && icon("check")),
    element(
      "div",
      {},
      element("strong", {}, title, done && element("span", { class: "sr-only" }, " (done)")),
      element("p", { class: "muted" }, ...words),
    ),
  );
}

const link = (place) => element("a", { href: `#/${place}` }, place[0].toUpperCase() + place.slice(1));
