// Making elements. Whatever comes from the server becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/// In characters.
const BLOCK = 4_000;
const LONGEST_BLOCK = 32_000;

/// `attributes` may have `on` (listeners), `data` (the dataset), and properties such as `value`;
/// `children` are nodes, texts, or lists of them, and what is null or false is left out.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (key === "data") {
      Object.assign(made.dataset, value);
    } else if (key === "value") {
      made.value = value;
    } else {
      made.setAttribute(key, value === true ? "" : value);
    }
  }
  made.append(...present(children));
  return made;
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

export function icon(name, className = "icon") {
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("viewBox", "0 0 24 24");
  made.setAttribute("aria-hidden", "true");
  made.setAttribute("class", className);
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `/page/icons.svg#${name}`);
  made.append(use);
  return made;
}

/// What `fill` last put into an element.
const filled = new WeakMap();

/// Puts `children` in the place of what is there, but only if they differ from what was put there last:
/// nothing flickers, what somebody has opened or typed stays, and so does the focus.
export function fill(parent, ...children) {
  const wanted = document.createElement("div");
  wanted.append(...present(children));
  const markup = wanted.innerHTML;
  if (filled.get(parent) === markup) return;
  filled.set(parent, markup);
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : "";
  parent.replaceChildren(...wanted.childNodes);
  if (focused) document.getElementById(focused)?.focus();
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/// `show`, at most once for each picture that the browser draws: a thousand changes a second must not
/// mean a thousand layouts.
export function oncePerFrame(show) {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      show();
    });
  };
}

/// A text that only ever grows. It stands in blocks, so that no more than the last one is laid out again.
export class GrowingText {
  #box;
  #waiting = "";
  #block = null;

  constructor(box) {
    this.#box = box;
  }

  add(text) {
    this.#waiting += text;
  }

  /// Shows what was added since the last time.
  show() {
    let text = this.#waiting;
    this.#waiting = "";
    while (text !== "") {
      if (!this.#block) {
        this.#block = document.createTextNode("");
        this.#box.append(element("div", {}, this.#block));
      }
      const end = this.#endIn(text);
      this.#block.appendData(text.slice(0, end));
      if (end === undefined) return;
      this.#block = null;
      text = text.slice(end);
    }
  }

  /// Where in `text` the block ends: at a line break, or at a space if none comes for very long.
  #endIn(text) {
    const after = (sign, length) => text.indexOf(sign, Math.max(0, length - this.#block.length)) + 1;
    const ends = [after("\n", BLOCK), after(" ", LONGEST_BLOCK)].filter((end) => end > 0);
    return ends.length > 0 ? Math.min(...ends) : undefined;
  }
}

/// A text in which what stands between backticks is code.
export function withCode(text) {
  return text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part));
}

/// A remark with a sign beside it, so that its colour is not all that tells what it is.
export function note(kind, ...children) {
  const sign = { good: "check", bad: "alert", warn: "alert", info: "info" }[kind];
  const role = kind === "bad" ? "alert" : null;
  return element("div", { class: `note ${kind}`, role }, icon(sign), element("div", {}, ...children));
}
