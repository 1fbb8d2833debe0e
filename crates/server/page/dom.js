// Making elements. Whatever comes from the server becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

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
