// The playground: ask a model, watch the answer grow, answer its calls by hand, and go on.

import { ApiError, send } from "./api.js";
import { AnswerParts } from "./answer-parts.js";
import { AnswerView } from "./answer-view.js";
import { copyButton } from "./copy.js";
import { asCurl } from "./curl.js";
import { element, icon } from "./dom.js";
import { events } from "./event-stream.js";
import { Frames } from "./frames.js";
import { RequestForm } from "./request-form.js";
import { lastingOrigin } from "./session.js";
import { DEFAULT_MESSAGE } from "./tools-json.js";

const PATH = "/v1/chat/completions";

const LONGEST_WORK_MS = 20;

const WRONG_TOOLS = "The tools are not right.";

/// Beside a conversation on a wide screen, above it on a narrow one, where it starts closed.
const WIDE = "(min-width: 1100px)";

/// Kept while other views are shown: an answer goes on, and the conversation is still there.
let kept = null;

export function playground() {
  kept ??= new Playground();
  return kept.nodes;
}

class Playground {
  /// The conversation, as the next request has it, without the system prompt.
  #messages = [];

  /// Ends the answer that is coming; null if none is.
  #abort = null;

  /// The latest request; null before the first.
  #sent = null;

  /// Calls wait for their answers, so that nothing else can be said.
  #callsWait = false;

  #form = new RequestForm();
  #frames = new Frames();
  #entries = element("div", { class: "entries" });
  #empty = element(
    "div",
    { class: "empty" },
    icon("playground", "icon large"),
    element(
      "p",
      {},
      "Press ",
      element("strong", {}, "Send"),
      ": the question fits the two tools, so that the model "
        + "calls both. You then answer the calls in its place, and it goes on.",
    ),
  );
  #state = element("p", { class: "sr-only", role: "status" });
  #message = element("textarea", {
    id: "message",
    rows: "2",
    value: DEFAULT_MESSAGE,
    on: { keydown: (event) => this.#key(event), input: () => this.#showButtons() },
  });
  #send = element("button", { type: "submit", class: "primary" }, "Send");
  #stop = element("button", { type: "button", hidden: true, on: { click: () => this.#cut() } }, "Stop");
  #hint = element("span", { class: "muted small-text" }, "Ctrl+Enter sends");

  nodes = [
    element(
      "div",
      { class: "view-head" },
      element("h1", {}, "Playground"),
      element("p", { class: "headline" }, "A conversation with any model, by the same API that your clients use."),
    ),
    element(
      "div",
      { class: "playground" },
      element(
        "section",
        { class: "card talk", "aria-label": "Conversation" },
        element(
          "div",
          { class: "talk-head" },
          element("h2", {}, "Conversation"),
          copyButton(() => this.#curl(), { label: "Copy as curl" }),
          element(
            "button",
            { type: "button", class: "quiet small", on: { click: () => this.#restart() } },
            "New conversation",
          ),
        ),
        this.#empty,
        this.#entries,
        this.#state,
        element(
          "form",
          {
            class: "composer",
            on: {
              submit: (event) => {
                event.preventDefault();
                this.#ask();
              },
            },
          },
          element("label", { for: "message" }, "Message"),
          this.#message,
          element("div", { class: "row" }, this.#send, this.#stop, this.#hint),
        ),
      ),
      element(
        "details",
        { class: "card request", open: matchMedia(WIDE).matches },
        element("summary", {}, element("h2", {}, "Request")),
        this.#form.node,
      ),
      this.#frames.node,
    ),
  ];

  constructor() {
    this.#showButtons();
  }

  #key(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.#ask();
  }

  #showButtons() {
    const busy = this.#abort !== null;
    this.#stop.hidden = !busy;
    this.#send.disabled = busy || this.#callsWait || this.#message.value.trim() === "";
    this.#hint.textContent = this.#callsWait ? "Answer the calls first" : "Ctrl+Enter sends";
  }

  /// The button goes with the answer; whoever has pressed it is not left nowhere.
  #cut() {
    this.#abort?.abort();
    this.#message.focus();
  }

  #restart() {
    this.#abort?.abort();
    this.#abort = null;
    this.#messages = [];
    this.#callsWait = false;
    this.#sent = null;
    this.#entries.replaceChildren();
    this.#frames.clear();
    this.#empty.hidden = false;
    this.#message.value = DEFAULT_MESSAGE;
    this.#showButtons();
    this.#message.focus();
  }

  /// The request for these messages, or null if it cannot be made.
  #request(more) {
    const parameters = this.#form.parameters();
    if (!parameters) return null;
    const messages = [...this.#form.systemMessages, ...this.#messages, ...more];
    return { ...parameters, messages, stream: true, stream_options: { include_usage: true } };
  }

  /// What Send would send; while that is nothing, what was sent last. Null if the tools are not right.
  #curl() {
    if (!this.#form.parameters()) {
      this.#state.textContent = WRONG_TOOLS;
      return null;
    }
    const content = this.#message.value.trim();
    const next = content && !this.#callsWait && this.#request([{ role: "user", content }]);
    return asCurl(lastingOrigin + PATH, next || this.#sent || this.#request([]));
  }

  async #ask() {
    if (this.#abort || this.#callsWait) return;
    const content = this.#message.value.trim();
    if (!content) return;
    const asked = [{ role: "user", content }];
    const request = this.#request(asked);
    if (!request) {
      this.#state.textContent = WRONG_TOOLS;
      return;
    }
    this.#message.value = "";
    this.#empty.hidden = true;
    this.#entries.append(
      element(
        "article",
        { class: "entry question", "aria-label": "Question" },
        element("h3", { class: "entry-who" }, "You"),
        element("div", { class: "prose" }, content),
      ),
    );
    const isAnswered = await this.#answer(request, asked);
    // A question that nobody has answered can be asked again.
    if (!isAnswered && this.#message.value === "") this.#message.value = content;
    this.#showButtons();
  }

  /// Sends a request and shows its answer. False if nothing came of it; the conversation is then as it
  /// was before.
  async #answer(request, asked) {
    const conversation = this.#messages;
    const view = new AnswerView(request.model);
    const parts = new AnswerParts();
    this.#entries.append(view.node);
    view.node.scrollIntoView({ block: "nearest" });
    this.#sent = request;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.#showButtons();
    this.#state.textContent = "The answer is coming.";
    const started = performance.now();
    const since = () => performance.now() - started;
    const times = { first: null, whole: 0 };
    let failure = null;
    try {
      const response = await send("POST", PATH, { body: request, signal });
      view.showHeaders(response.headers);
      this.#frames.divide(`POST ${PATH} · ${response.headers.get("x-request-id") ?? ""}`);
      await this.#follow(response, { view, parts, since, times });
      if (parts.error) failure = { ...parts.error, requestId: response.headers.get("x-request-id") };
    } catch (error) {
      if (!signal.aborted) failure = error instanceof ApiError ? error : { message: lost(error) };
    }
    times.whole = since();
    const stopped = signal.aborted;
    // A new conversation has begun meanwhile, and may have an answer of its own.
    if (conversation !== this.#messages) return true;
    this.#abort = null;
    if (failure) view.failed(failure);
    this.#state.textContent = view.ended(parts, times, stopped ? "Stopped" : failure ? "Failed" : null);
    view.node.scrollIntoView({ block: "nearest" });
    return this.#conclude(view, parts, asked, Boolean(failure) || stopped);
  }

  async #follow(response, { view, parts, since, times }) {
    let rested = performance.now();
    for await (const { comment, data } of events(response)) {
      // What comes all at once is taken in pieces, so that the page can be used meanwhile.
      if (performance.now() - rested > LONGEST_WORK_MS) {
        await new Promise((resume) => setTimeout(resume));
        rested = performance.now();
      }
      this.#frames.add(since(), comment === undefined ? `data: ${data}` : `: ${comment}`);
      if (data === undefined || data === "[DONE]") continue;
      for (const { kind, added, index } of parts.take(JSON.parse(data))) {
        if (kind !== "error") times.first ??= since();
        if (kind === "text") view.said(added);
        if (kind === "refusal") view.refused(added);
        if (kind === "reasoning") view.reasoned(added);
        if (kind === "call") view.called(index, parts.calls[index]);
      }
    }
  }

  /// What the conversation has of an answer. Of one that was cut, only its text: half of its calls
  /// cannot be told from all of them.
  #conclude(view, parts, asked, isCut) {
    if (isCut && parts.text === "") return false;
    const message = parts.toMessage();
    if (isCut) delete message.tool_calls;
    this.#messages.push(...asked, message);
    if (message.tool_calls) this.#letCallsBeAnswered(view, message.tool_calls);
    return true;
  }

  #letCallsBeAnswered(view, calls) {
    this.#callsWait = true;
    const fields = view.askForAnswers(async (texts) => {
      const results = calls.map(({ id }, index) => ({ role: "tool", tool_call_id: id, content: texts[index] }));
      const request = this.#request(results);
      if (!request) return;
      fields.close();
      this.#callsWait = false;
      if (!(await this.#answer(request, results))) {
        this.#callsWait = true;
        fields.reopen();
      }
      this.#showButtons();
    });
  }
}

const lost = (error) => `The connection was lost: ${error.message}`;
