// An answer on the screen, as it grows.

import { element, GrowingText, icon, note, oncePerFrame, setText } from "./dom.js";
import { count, took } from "./words.js";

/// The headers that tell something about the turn, and how they are called here.
const TOLD = [
  ["x-proxy-model", "Model"],
  ["x-proxy-continuity", "Thread"],
  ["x-proxy-ignored-params", "Without effect"],
  ["x-request-id", "Request"],
];

const FINISHED = {
  stop: "Finished",
  tool_calls: "Called tools",
  length: "Cut at the limit of tokens",
  content_filter: "Withheld by the upstream",
};

/// So that every field has an id of its own.
let cardsMade = 0;

export class AnswerView {
  #calls = [];

  /// The call that has grown last; null before the first. Those before it are complete.
  #growing = null;

  #reasoningProse = element("div", { class: "prose", data: { testid: "answer-reasoning" } });
  #reasoningBox = element(
    "details",
    { class: "reasoning", hidden: true },
    element("summary", {}, "Reasoning"),
    this.#reasoningProse,
  );
  #textBox = element("div", { class: "prose", hidden: true, data: { testid: "answer-text" } });
  #reasoning = new GrowingText(this.#reasoningProse);
  #refusalProse = element("div", { class: "prose", data: { testid: "answer-refusal" } });
  #refusalBox = note("warn", element("strong", {}, "The model refuses to answer"), this.#refusalProse);
  #text = new GrowingText(this.#textBox);
  #refusal = new GrowingText(this.#refusalProse);
  #changed = oncePerFrame(() => this.#show());
  #callBox = element("div", { class: "calls", hidden: true });
  #errorBox = element("div", {});
  #headers = element("dl", { class: "answer-facts" });
  #progress = document.createTextNode("Waiting for the first word…");
  #state = element("p", { class: "answer-state muted" }, icon("wait", "icon turning"), this.#progress);

  node = element(
    "article",
    { class: "entry answer", "aria-label": "Answer" },
    this.#reasoningBox,
    this.#textBox,
    this.#refusalBox,
    this.#callBox,
    this.#errorBox,
    this.#state,
    this.#headers,
  );

  constructor(model) {
    this.#refusalBox.hidden = true;
    this.node.prepend(element("h3", { class: "entry-who" }, model));
  }

  showHeaders(headers) {
    const rows = TOLD.flatMap(([header, name]) => {
      const value = headers.get(header);
      return value ? [element("div", {}, element("dt", {}, name), element("dd", { title: header }, value))] : [];
    });
    this.#headers.replaceChildren(...rows);
  }

  reasoned(added) {
    this.#reasoningBox.hidden = false;
    this.#reasoning.add(added);
    this.#changed();
  }

  said(added) {
    this.#textBox.hidden = false;
    this.#text.add(added);
    this.#changed();
  }

  refused(added) {
    this.#refusalBox.hidden = false;
    this.#refusal.add(added);
    this.#changed();
  }

  /// A call that is new, or has grown.
  called(index, call) {
    this.#callBox.hidden = false;
    this.#calls[index] ??= this.#newCall();
    const card = this.#calls[index];
    card.call = call;
    this.#growing = card;
    this.#changed();
  }

  #show() {
    setText(this.#progress, "The answer is coming…");
    this.#reasoning.show();
    this.#text.show();
    this.#refusal.show();
    for (const card of this.#calls) {
      setText(card.name, card.call.name);
      setText(card.label, `Answer to ${card.call.name}`);
      if (card.isEnded) continue;
      setText(card.state, card === this.#growing ? "being written" : "complete");
      grow(card);
    }
  }

  #newCall() {
    const name = element("code", { class: "call-name", data: { testid: "call-name" } });
    const state = element("span", { class: "call-state muted" });
    // As it comes; it gets its line breaks when the answer has ended.
    const given = document.createTextNode("");
    // Not a live region: a screen reader would announce every fragment.
    const box = element(
      "pre",
      {
        class: "snippet",
        tabindex: "0",
        "aria-label": "Arguments",
        "aria-busy": "true",
        data: { testid: "call-arguments" },
      },
      given,
    );
    const id = `call-answer-${++cardsMade}`;
    const label = element("label", { for: id });
    const answer = element("textarea", {
      id,
      rows: "2",
      class: "mono",
      disabled: true,
      spellcheck: "false",
      placeholder: "What the tool gives back, as text or JSON",
    });
    const answerField = element("div", { class: "field", hidden: true }, label, answer);
    this.#callBox.append(
      element(
        "div",
        { class: "call", data: { testid: "call" } },
        element("div", { class: "call-head" }, icon("tool"), name, state),
        box,
        answerField,
      ),
    );
    return { call: null, isEnded: false, name, state, box, given, label, answer, answerField };
  }

  /// Lets the calls be answered: `onAnswers` gets the texts when all are there and it is gone on.
  askForAnswers(onAnswers) {
    const go = element("button", { type: "button", class: "primary", disabled: true }, "Continue with these answers");
    const texts = () => this.#calls.map(({ answer }) => answer.value);
    for (const { answer, answerField, state } of this.#calls) {
      setText(state, "waits for an answer");
      answerField.hidden = false;
      answer.disabled = false;
      answer.addEventListener("input", () => {
        go.disabled = texts().some((text) => text.trim() === "");
      });
      answer.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !go.disabled) go.click();
      });
    }
    const row = element("div", { class: "row" }, go);
    this.#callBox.append(row);
    go.addEventListener("click", () => onAnswers(texts()));
    return {
      close: () => {
        row.hidden = true;
        for (const { answer, state } of this.#calls) {
          answer.disabled = true;
          setText(state, "answered");
        }
      },
      reopen: () => {
        row.hidden = false;
        for (const { answer, state } of this.#calls) {
          answer.disabled = false;
          setText(state, "waits for an answer");
        }
      },
    };
  }

  failed(error) {
    const facts = [error.status, error.code ?? error.type, error.requestId].filter(Boolean).join(" · ");
    const signIn =
      error.code === "codex_login_required" && element("p", {}, element("a", { href: "#/overview" }, "Sign in"));
    this.#errorBox.replaceChildren(
      note("bad", element("p", {}, error.message), signIn, facts && element("p", { class: "mono small-text" }, facts)),
    );
  }

  /// `times` are `{first, whole}`, in milliseconds from the request; `cut` is "Stopped" or "Failed" if the
  /// answer did not come to its end.
  ended(parts, times, cut) {
    this.#show();
    for (const card of this.#calls) {
      const isComplete = card !== this.#growing || !cut || parts.finishReason !== null;
      card.isEnded = true;
      card.box.removeAttribute("aria-busy");
      if (isComplete) {
        card.given.data = pretty(card.call.arguments);
        card.box.scrollTop = 0;
      }
      setText(card.state, isComplete ? "complete" : "incomplete");
    }
    const finished = parts.refusal && parts.finishReason ? "Refused" : FINISHED[parts.finishReason];
    const words = [cut === "Stopped" ? cut : (finished ?? cut ?? "Ended")];
    if (times.first !== null) words.push(`first token after ${took(times.first)}`);
    words.push(`${took(times.whole)} in all`);
    if (parts.usage) {
      words.push(`${count(parts.usage.prompt_tokens)} tokens in, ${count(parts.usage.completion_tokens)} out`);
    }
    this.#state.replaceChildren(words.join(" · "));
    return words.join(", ");
  }
}

/// Shows what a call has more of, and follows its end unless the reader has scrolled back.
function grow({ call, box, given }) {
  const added = call.arguments.slice(given.length);
  if (added === "") return;
  const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 8;
  given.appendData(added);
  if (atEnd) box.scrollTop = box.scrollHeight;
}

/// The same JSON with line breaks, token by token: a number that is parsed and written again may be
/// another one (12345678901234567890, 1.10).
function pretty(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  const tokens = text.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g);
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  return tokens
    .map((token, index) => {
      if (token === ":") return ": ";
      if (token === ",") return `,${line()}`;
      if (token === "{" || token === "[") {
        depth += 1;
        return "}]".includes(tokens[index + 1]) ? token : token + line();
      }
      if (token === "}" || token === "]") {
        depth -= 1;
        return "{[".includes(tokens[index - 1]) ? token : line() + token;
      }
      return token;
    })
    .join("");
}
