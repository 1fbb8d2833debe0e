// The page as a whole: the key, the connection, and which view is shown.

import { send } from "./api.js";
import { clients } from "./clients.js";
import { element, fill, icon } from "./dom.js";
import * as key from "./key.js";
import { keyForm } from "./key-form.js";
import { listen, live } from "./live.js";
import { models } from "./models.js";
import { overview } from "./overview.js";
import { playground } from "./playground.js";
import { settings } from "./settings.js";
import { turns } from "./turns.js";
import { lasting } from "./words.js";

/// Each makes its elements, and follows what changes until the signal is aborted.
const VIEWS = {
  overview: { title: "Overview", show: overview },
  playground: { title: "Playground", show: playground },
  turns: { title: "Turns", show: turns },
  models: { title: "Models", show: models },
  clients: { title: "Clients", show: clients },
  settings: { title: "Settings", show: settings },
};

/// A short loss, such as at a restart, is not worth a word.
const UNSAID_LOSSES = 1;

const main = document.getElementById("main");
const banner = document.getElementById("connection");
let leave = new AbortController();
let losses = 0;

/// Ends the trial of a key that was given before another.
let trial = new AbortController();

function begin() {
  document.getElementById("skip").addEventListener("click", (event) => {
    // The fragment belongs to the views.
    event.preventDefault();
    main.focus();
  });
  document.getElementById("forget").addEventListener("click", () => {
    key.forget();
    // Whatever the page still knows goes with it.
    location.reload();
  });
  window.addEventListener("hashchange", () => {
    const given = key.takeFromAddress();
    if (given) tryKey(given);
    else if (!isLocked()) show({ focus: true });
  });
  listen(["connection"], connectionChanged);
  listen(["status"], () => {
    document.getElementById("version").textContent = `codex-completions ${live.status.version}`;
  });
  setInterval(showConnection, 1_000);
  const given = key.takeFromAddress();
  if (given) tryKey(given);
  else if (key.current()) unlock();
  else ask(null);
}

/// A key is kept when the server has taken it. One that is refused takes nothing from the one before.
async function tryKey(given) {
  trial.abort();
  trial = new AbortController();
  const { signal } = trial;
  try {
    await send("GET", "/v1/proxy/status", { as: given, signal });
    key.keep(given);
    unlock();
  } catch (error) {
    if (signal.aborted) return;
    if (key.current()) unlock();
    else ask(error);
  }
}

const isLocked = () => "locked" in document.body.dataset;

/// Asks for the key; `refusal` says why the last one was not taken.
function ask(refusal) {
  leave.abort();
  document.body.dataset.locked = "";
  document.title = "Key – codex-completions";
  losses = 0;
  showConnection();
  main.replaceChildren(keyForm({ refusal, onKey: tryKey }));
}

function unlock() {
  delete document.body.dataset.locked;
  live.start();
  show({ focus: false });
}

function show({ focus }) {
  leave.abort();
  leave = new AbortController();
  const wanted = location.hash.replace(/^#\/?/, "").split("/")[0];
  const name = Object.hasOwn(VIEWS, wanted) ? wanted : "overview";
  const view = VIEWS[name];
  document.title = `${view.title} – codex-completions`;
  for (const link of document.querySelectorAll(".places a")) {
    if (link.hash === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.dataset.view = name;
  main.replaceChildren(...view.show(leave.signal));
  window.scrollTo(0, 0);
  // Who reads with the ears hears where they are.
  if (focus) main.focus({ preventScroll: true });
}

function connectionChanged() {
  if (live.connection === "refused") {
    // Another tab may have a better one by now.
    if (key.current() === live.refusedKey) key.forget();
    if (key.current() && key.current() !== live.refusedKey) live.start();
    else ask(live.refusal);
    return;
  }
  if (live.connection === "open") losses = 0;
  if (live.connection === "lost") losses += 1;
  showConnection();
}

function showConnection() {
  banner.hidden = isLocked() || losses <= UNSAID_LOSSES;
  if (banner.hidden) return;
  const left = Math.max(0, Math.ceil((live.retryAt - Date.now()) / 1000));
  const next = live.connection === "lost" && left > 0 ? `Trying again in ${lasting(left)}.` : "Trying again…";
  // A countdown is not worth announcing every second.
  fill(banner, icon("wait", "icon turning"), element("span", {}, live.trouble),
    element("span", { "aria-hidden": "true" }, next),
    element("button", { type: "button", class: "quiet small", id: "retry" }, "Try now"));
  document.getElementById("retry").onclick = () => live.retryNow();
}

begin();
