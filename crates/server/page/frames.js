// The raw frames of an answer, with the time at which each came.

import { element } from "./dom.js";

const MOST_LINES = 3_000;

export class Frames {
  #lines = element("div", { class: "frames mono", tabindex: "0", role: "group", "aria-label": "Raw frames",
    data: { testid: "raw-frames" } });
  #count = element("span", { class: "muted" });
  #waiting = [];
  #total = 0;

  node = element("details", { class: "card frames-card" },
    element("summary", {}, "Raw frames ", this.#count), this.#lines);

  clear() {
    this.#lines.replaceChildren();
    this.#waiting = [];
    this.#total = 0;
    this.#count.textContent = "";
  }

  /// What one request brought is kept apart from the next.
  divide(title) {
    this.#add(element("p", { class: "frame-title" }, title));
  }

  add(afterMs, line) {
    this.#add(element("p", {}, element("span", { class: "frame-time" }, `+${(afterMs / 1000).toFixed(3)} s`), line));
  }

  /// A thousand frames a second must not mean a thousand layouts.
  #add(line) {
    this.#waiting.push(line);
    this.#total += 1;
    if (this.#waiting.length === 1) requestAnimationFrame(() => this.#show());
  }

  #show() {
    const atEnd = this.#lines.scrollTop + this.#lines.clientHeight >= this.#lines.scrollHeight - 8;
    this.#lines.append(...this.#waiting.splice(0));
    while (this.#lines.childElementCount > MOST_LINES) this.#lines.firstElementChild.remove();
    const cut = this.#total > MOST_LINES ? `, the last ${MOST_LINES} shown` : "";
    this.#count.textContent = `(${this.#total} lines${cut})`;
    if (atEnd) this.#lines.scrollTop = this.#lines.scrollHeight;
  }
}
