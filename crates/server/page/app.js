// The page as a whole: its session, the connection, and which view is shown.

import { send } from "./api.js";
import { clients } from "./clients.js";
import { element, fill, icon } from "./dom.js";
import { keyForm } from "./key-form.js";
import { listen, live } from "./live.js";
import { models } from "./models.js";
import { overview } from "./overview.js";
import { playground } from "./playground.js";
import * as session from "./session.js";
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

/// Ends the trial of a key or code that was given before another.
let trial = new AbortController();

/// A server that does not answer must not keep the page open.
const END_WITHIN_MS = 1_000;

function begin() {
  document.getElementById("skip").addEventListener("click", (event) => {
    // The fragment belongs to the views.
    event.preventDefault();
    main.focus();
  });
  document.getElementById("lock").addEventListener("click", lock);
  window.addEventListener("hashchange", () => {
    const given = session.takeFromAddress();
    if (given) enter(given, { byLink: true });
    else if (!isLocked()) show({ focus: true });
  });
  listen(["connection"], connectionChanged);
  listen(["status"], () => {
    document.getElementById("version").textContent = `codex-completions ${live.status.version}`;
  });
  setInterval(showConnection, 1_000);
  const given = session.takeFromAddress();
  const earlier = session.takeKeyOf01();
  if (given) enter(given, { byLink: true });
  else if (session.current()) unlock();
  else enterAgain(earlier, null);
}

/// Opens a session with a key, or with the code of a link. What is refused changes nothing about the session before.
async function enter(given, { byLink = false, remember = false }) {
  trial.abort();
  trial = new AbortController();
  const { signal } = trial;
  try {
    const opened = await send("POST", "/v1/proxy/session", { as: given, signal });
    const { token } = await opened.json();
    const before = session.current();
    session.keep(token);
    if (remember) session.rememberKey(given);
    if (before) end(before);
    unlock();
  } catch (error) {
    if (signal.aborted) return;
    if (error.isAboutTheKey && given === session.rememberedKey()) session.forgetKey();
    if (session.current()) unlock();
    else ask({ error, byLink });
  }
}

/// Enters with the key that is remembered, or that version 0.1 has left; without one the key is asked for.
function enterAgain(earlier, refusal) {
  const key = session.rememberedKey() ?? earlier;
  if (key) enter(key, {});
  else ask(refusal);
}

/// Ends the session, here and at the server, and forgets the key.
async function lock() {
  trial.abort();
  // Nothing is asked for without a session.
  leave.abort();
  live.stop();
  const open = session.current();
  session.drop();
  session.forgetKey();
  await end(open);
  // Whatever the page has shown is gone with it.
  location.reload();
}

/// Ends a session at the server.
async function end(open) {
  const ending = send("DELETE", "/v1/proxy/session", { as: open, signal: AbortSignal.timeout(END_WITHIN_MS) });
  await ending.then((answer) => answer.text()).catch(() => {});
}

const isLocked = () => "locked" in document.body.dataset;

/// Asks for the key; `refusal` has the reason: the error, and whether it was a link or a session that was refused.
function ask(refusal) {
  leave.abort();
  document.body.dataset.locked = "";
  document.title = "Key – codex-completions";
  losses = 0;
  showConnection();
  main.replaceChildren(keyForm({ refusal, onKey: enter }));
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
    // A link may have opened another one by now.
    if (session.current() !== live.refusedSession) {
      live.start();
      return;
    }
    session.drop();
    enterAgain(null, { error: live.refusal, bySession: true });
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
  fill(
    banner,
    icon("wait", "icon turning"),
    element("span", {}, live.trouble),
    element("span", { "aria-hidden": "true" }, next),
    element("button", { type: "button", class: "quiet small", id: "retry" }, "Try now"),
  );
  document.getElementById("retry").onclick = () => live.retryNow();
}

begin();
