// What the server tells while the page is open: its state and its turns. Connects again by itself.

import { ApiError, send } from "./api.js";
import { events } from "./event-stream.js";
import * as session from "./session.js";

const MOST_TURNS = 200;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/// A browser has six connections for a server, and every tab that listens takes one. A tab that nobody
/// looks at gives it back, but not while somebody only glances at another.
const UNSEEN_FOR_MS = 5_000;

const UNREACHABLE = "The server cannot be reached.";

/// Tells of `status`, `turns`, `turn` (detail: the turn), `settings`, and `connection`.
class Live extends EventTarget {
  /// The latest status; null before the first.
  status = null;

  /// When it came.
  statusAt = 0;

  /// Turns by their names.
  turns = new Map();

  /// `connecting`, `open`, `lost` (then `retryAt` says when it is tried again) or `refused`.
  connection = "connecting";

  retryAt = 0;

  /// Why the connection is lost, in words.
  trouble = UNREACHABLE;

  /// Why the session was refused, and which one it was.
  refusal = null;
  refusedSession = null;

  #stop = null;
  #wake = () => {};

  /// Newest first.
  get newestTurns() {
    return [...this.turns.values()].sort(
      (one, other) => other.started_at - one.started_at || (other.number ?? 0) - (one.number ?? 0),
    );
  }

  start() {
    this.stop();
    this.#stop = new AbortController();
    this.refusal = null;
    this.#run(this.#stop.signal);
  }

  stop() {
    this.#stop?.abort();
    this.#stop = null;
    this.status = null;
    this.turns.clear();
  }

  /// Tries at once, instead of waiting for the next try.
  retryNow() {
    this.#wake();
  }

  async #run(signal) {
    let wait = FIRST_WAIT_MS;
    this.#become("connecting");
    while (!signal.aborted) {
      if (this.connection === "open") this.#become("connecting");
      await untilSeen(signal);
      if (signal.aborted) return;
      const unseen = whenUnseen(signal);
      const as = session.current();
      try {
        const response = await send("GET", "/v1/proxy/events", { signal: unseen.signal, as });
        this.#become("open");
        wait = FIRST_WAIT_MS;
        for await (const event of events(response)) this.#take(event);
        this.trouble = UNREACHABLE;
      } catch (error) {
        if (signal.aborted) return;
        if (unseen.signal.aborted) continue;
        if (error instanceof ApiError && error.isAboutTheKey) {
          this.refusal = error;
          this.refusedSession = as;
          this.#become("refused");
          return;
        }
        this.trouble = error instanceof ApiError ? error.message : UNREACHABLE;
      } finally {
        unseen.abort();
      }
      if (signal.aborted) return;
      this.retryAt = Date.now() + wait;
      this.#become("lost");
      await this.#pause(wait, signal);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  #take({ event, data }) {
    if (event === undefined) return;
    const told = JSON.parse(data);
    if (event === "status") {
      this.status = told;
      this.statusAt = Date.now();
    }
    if (event === "turns") this.turns = new Map(told.turns.map((turn) => [nameOf(turn), turn]));
    if (event === "turn") this.#remember(told);
    this.dispatchEvent(new CustomEvent(event, { detail: told }));
  }

  #remember(turn) {
    this.turns.set(nameOf(turn), turn);
    const tooMany = this.turns.size - MOST_TURNS;
    if (tooMany <= 0) return;
    // One that runs is still going to be told of, however old it is.
    const ended = this.newestTurns.filter(({ state }) => state === "ended");
    for (const old of ended.slice(-tooMany)) this.turns.delete(nameOf(old));
  }

  #become(connection) {
    this.connection = connection;
    this.dispatchEvent(new Event("connection"));
  }

  #pause(ms, signal) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = resolve;
      signal.addEventListener(
        "abort",
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }
}

/// Comes when somebody looks at the page: at once, if somebody does.
function untilSeen(signal) {
  return new Promise((resolve) => {
    const seen = new AbortController();
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      seen.abort();
      resolve();
    };
    document.addEventListener("visibilitychange", look, { signal: seen.signal });
    signal.addEventListener("abort", look, { signal: seen.signal });
    look();
  });
}

/// Aborted when nobody has looked at the page for a while, or together with `signal`.
function whenUnseen(signal) {
  const unseen = new AbortController();
  let timer = 0;
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => unseen.abort(), UNSEEN_FOR_MS);
  };
  document.addEventListener("visibilitychange", look, { signal: unseen.signal });
  signal.addEventListener("abort", () => unseen.abort(), { signal: unseen.signal });
  return unseen;
}

export const live = new Live();

/// What tells a turn from all others: a client may choose the id of its requests.
export const nameOf = (turn) => turn.number ?? turn.id;

/// Calls `listener` for these events until `signal` is aborted.
export function listen(names, listener, signal) {
  for (const name of names) live.addEventListener(name, listener, { signal });
}

export const isSignedIn = () => live.status?.account?.signed_in === true;

/// Whether any other model than `demo` can be asked.
export const hasModels = () => isSignedIn() || Boolean(live.status?.upstream);
