// One turn, as the cells of its row.

import { element, icon } from "./dom.js";
import { whyEnded } from "./reasons.js";
import { count, moment, timeOfDay, took } from "./words.js";

/// The columns, in their order. On a phone the names stand in each row.
export const COLUMNS = ["Time", "Client", "Model", "Calls", "Tokens", "Ended", "Took"];

const MOST_NAMES = 4;

/// The parts of a turn's time, in their order.
export const PARTS = [
  ["queue", "waiting for a place"],
  ["event", "until Codex begins"],
  ["token", "until the first token"],
  ["rest", "the answer"],
];

export function cells(turn) {
  return [when(turn), client(turn), model(turn), calls(turn), tokens(turn), ending(turn), duration(turn)];
}

const when = ({ started_at: at }) => [
  element("time", { datetime: new Date(at).toISOString(), title: moment(at) }, timeOfDay(at)),
];

function client({ client: name, key, endpoint, stream }) {
  return [
    name ?? element("span", { class: "muted" }, "unknown"),
    element("span", { class: "sub" }, `key ${key} · ${endpoint}${stream ? ", streamed" : ""}`),
  ];
}

function model({ model: asked, backend_model: real, continuity }) {
  const more = [real && real !== asked && real, continuity && continuity !== "fresh" && `thread ${continuity}`];
  const sub = more.filter(Boolean).join(" · ");
  return [element("span", { class: "mono" }, asked), sub && element("span", { class: "sub" }, sub)];
}

function calls({ tool_calls: names = [], tool_call_count: total = 0, truncated }) {
  if (total === 0 && names.length === 0) return [element("span", { class: "muted nothing" }, "none")];
  const shown = names.slice(0, MOST_NAMES);
  const rest = Math.max(total, names.length) - shown.length;
  return [
    element(
      "span",
      { class: "names" },
      shown.map((name) => element("code", {}, name)),
      rest > 0 && element("span", { class: "muted" }, `and ${count(rest)} more`),
    ),
    truncated && element("span", { class: "sub" }, "truncated"),
  ];
}

function tokens({ tokens: used }) {
  if (!used) return [element("span", { class: "muted nothing" }, "–")];
  const details = [
    used.cached > 0 && `${count(used.cached)} cached`,
    used.reasoning > 0 && `${count(used.reasoning)} reasoning`,
  ];
  const sub = details.filter(Boolean).join(", ");
  return [`${count(used.prompt)} in, ${count(used.completion)} out`, sub && element("span", { class: "sub" }, sub)];
}

function ending(turn) {
  if (turn.state === "running") {
    return [element("span", { class: "ending" }, icon("wait", "icon turning"), "Running")];
  }
  const { words, code, kind } = whyEnded(turn);
  const sign = { done: "check", cut: "info", bad: "alert" }[kind];
  return [element("span", { class: `ending ${kind}`, title: code }, icon(sign), element("span", {}, words))];
}

export const runningFor = (since) => took(Math.max(0, Date.now() - since));

function duration(turn) {
  if (turn.state === "running") {
    return [element("span", { class: "ticking", data: { since: turn.started_at } }, runningFor(turn.started_at))];
  }
  const first = turn.first_token_ms;
  return [
    element("span", {}, took(turn.duration_ms)),
    bar(turn),
    element(
      "span",
      { class: "sub" },
      first === null || first === undefined ? "no output" : `first token ${took(first)}`,
    ),
  ];
}

/// `queue_ms` and `first_event_ms` follow one another, the other two count from the request's head.
function lengths({ queue_ms: queue = 0, first_event_ms: event, first_token_ms: token, duration_ms: whole }) {
  const begun = Math.min(whole, queue + (event ?? whole - queue));
  const spoken = Math.max(begun, Math.min(whole, token ?? whole));
  return { queue, event: begun - queue, token: spoken - begun, rest: whole - spoken };
}

function bar(turn) {
  const parts = lengths(turn);
  const whole = Math.max(1, turn.duration_ms);
  const words = PARTS.map(([part, name]) => `${name} ${took(parts[part])}`).join(", ");
  return element(
    "span",
    { class: "time-bar", role: "img", "aria-label": words, title: words },
    PARTS.map(([part]) => {
      const piece = element("span", { class: `part ${part}` });
      piece.style.width = `${(parts[part] / whole) * 100}%`;
      return piece;
    }),
  );
}
