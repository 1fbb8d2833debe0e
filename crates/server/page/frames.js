// The raw frames of an answer, with the time at which each came.

import { element, oncePerFrame } from "./dom.js";

/// What is kept of them: the last ones.
const MOST_LINES = 2_000;
const MOST_CHARACTERS = 1_000_000;

export class Frames {
  #box = element("div", {
    class: "frames mono",
    tabindex: "0",
    role: "group",
    "aria-label": "Raw frames",
    data: { testid: "raw-frames" },
  });
  #count = element("span", { class: "muted" });

  /// `{time, text}`, or `{title}` where a request begins. They become elements while somebody looks.
  #lines = [];
  #characters = 0;
  #total = 0;

  /// The elements of the lines that are shown, and how many lines there were when they were made.
  #shown = [];
  #shownUpTo = 0;
  #changed = oncePerFrame(() => this.#show());

  node = element(
    "details",
    { class: "card frames-card", on: { toggle: () => this.#changed() } },
    element("summary", {}, "Raw frames ", this.#count),
    this.#box,
  );

  clear() {
    this.#lines = [];
    this.#characters = 0;
    this.#total = 0;
    this.#hide();
    this.#changed();
  }

  /// What one request brought is kept apart from the next.
  divide(title) {
    this.#add({ title, text: "" });
  }

  add(afterMs, text) {
    this.#add({ time: afterMs, text });
  }

  #add(line) {
    this.#lines.push(line);
    this.#characters += line.text.length;
    this.#total += 1;
    while (this.#lines.length > MOST_LINES || (this.#characters > MOST_CHARACTERS && this.#lines.length > 1)) {
      this.#characters -= this.#lines.shift().text.length;
    }
    this.#changed();
  }

  #show() {
    const kept = this.#lines.length;
    const cut = this.#total > kept ? `, the last ${kept} kept` : "";
    this.#count.textContent = this.#total > 0 ? `(${this.#total} lines${cut})` : "";
    if (!this.node.open) {
      this.#hide();
      return;
    }
    const isNew = Math.min(this.#total - this.#shownUpTo, kept);
    if (isNew === 0) return;
    const atEnd = this.#box.scrollTop + this.#box.clientHeight >= this.#box.scrollHeight - 8;
    const added = this.#lines.slice(kept - isNew).map(nodeOf);
    for (const old of this.#shown.splice(0, this.#shown.length + isNew - kept)) old.remove();
    this.#shown.push(...added);
    this.#box.append(...added);
    this.#shownUpTo = this.#total;
    if (atEnd) this.#box.scrollTop = this.#box.scrollHeight;
  }

  #hide() {
    this.#box.replaceChildren();
    this.#shown = [];
    this.#shownUpTo = 0;
  }
}

function nodeOf({ title, time, text }) {
  if (title !== undefined) return element("p", { class: "frame-title" }, title);
  return element("p", {}, element("span", { class: "frame-time" }, `+${(time / 1000).toFixed(3)} s`), text);
}
