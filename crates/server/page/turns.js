// Turns as they come and go. Never what was said in them.

import { element, fill, icon } from "./dom.js";
import { listen, live, nameOf } from "./live.js";
import { cells, COLUMNS, PARTS, runningFor } from "./turn-parts.js";
import { plural } from "./words.js";

const TICK_MS = 100;

export function turns(signal) {
  let paused = false;
  let newer = 0;
  const rows = new Map();
  const pause = element("button", { type: "button", "aria-pressed": "false" }, "Pause");
  const failuresOnly = element("input", { type: "checkbox", id: "failures-only" });
  // Not announced: it changes with every turn.
  const told = element("p", { class: "muted" });
  const body = element("tbody", { role: "rowgroup" });
  const table = element(
    "table",
    { class: "turns", role: "table" },
    element("caption", { class: "sr-only" }, "Recent turns, newest first"),
    element(
      "thead",
      { role: "rowgroup" },
      element(
        "tr",
        { role: "row" },
        COLUMNS.map((name) => element("th", { scope: "col", role: "columnheader" }, name)),
      ),
    ),
    body,
  );
  const empty = element("div", {});

  const update = () => {
    if (paused) return;
    const all = live.newestTurns;
    const shown = all.filter((turn) => !failuresOnly.checked || turn.failed);
    place(body, rows, shown);
    table.hidden = shown.length === 0;
    fill(empty, shown.length === 0 && emptyState(live.turns.size > 0));
    const failed = all.filter((turn) => turn.failed).length;
    const running = all.filter((turn) => turn.state === "running").length;
    told.textContent = `${plural(live.turns.size, "turn")}, ${running} running, ${failed} failed`;
  };

  pause.addEventListener("click", () => {
    paused = !paused;
    newer = 0;
    pause.textContent = paused ? "Go on" : "Pause";
    pause.setAttribute("aria-pressed", String(paused));
    told.textContent = "Paused.";
    update();
  });
  failuresOnly.addEventListener("change", () => update());
  listen(
    ["turn"],
    ({ detail }) => {
      if (paused && detail.state === "running") told.textContent = `Paused; ${plural(++newer, "newer turn")}.`;
    },
    signal,
  );
  listen(["turns", "turn"], update, signal);
  const ticks = setInterval(() => paused || tick(), TICK_MS);
  signal.addEventListener("abort", () => clearInterval(ticks));
  update();

  return [
    element(
      "div",
      { class: "view-head" },
      element("h1", {}, "Turns"),
      element(
        "p",
        { class: "headline" },
        "The last 200 turns of all clients, live. What was said in them is not kept.",
      ),
    ),
    element(
      "div",
      { class: "toolbar" },
      pause,
      element("label", { class: "check" }, failuresOnly, "Only failures"),
      told,
    ),
    element("div", { class: "card flush" }, table, empty),
    legend(),
  ];
}

/// Rows stay what they are while their turn does not change, so that nothing under the pointer moves.
function place(body, rows, shown) {
  const wanted = shown.map((turn) => {
    const known = rows.get(nameOf(turn));
    if (known?.turn === turn) return known.row;
    const row = rowOf(turn);
    if (known) known.row.replaceWith(row);
    rows.set(nameOf(turn), { turn, row });
    return row;
  });
  const names = new Set(shown.map(nameOf));
  for (const [name, { row }] of rows) {
    if (names.has(name)) continue;
    row.remove();
    rows.delete(name);
  }
  wanted.forEach((row, index) => {
    if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null);
  });
}

function rowOf(turn) {
  return element(
    "tr",
    { role: "row", class: turn.failed ? "failed" : "", data: { testid: "turn", state: turn.state, turn: turn.id } },
    cells(turn).map((content, index) =>
      element("td", { role: "cell", data: { label: COLUMNS[index] } }, element("div", {}, content)),
    ),
  );
}

function tick() {
  for (const node of document.querySelectorAll(".ticking")) {
    node.textContent = runningFor(Number(node.dataset.since));
  }
}

function emptyState(hasOthers) {
  if (hasOthers)
    return element("div", { class: "empty" }, icon("check", "icon large"), element("p", {}, "No turn has failed."));
  return element(
    "div",
    { class: "empty" },
    icon("turns", "icon large"),
    element(
      "p",
      {},
      "No turns yet. Ask something in the ",
      element("a", { href: "#/playground" }, "playground"),
      ", or ",
      element("a", { href: "#/clients" }, "connect a client"),
      ": its turns show up here at once.",
    ),
  );
}

function legend() {
  return element(
    "p",
    { class: "legend muted" },
    "Time: ",
    PARTS.map(([part, name]) => element("span", {}, element("span", { class: `part ${part}` }), name)),
  );
}
