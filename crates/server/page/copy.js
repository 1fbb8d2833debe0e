// Copying, with a word that it was done.

import { element, icon } from "./dom.js";

const SHOWN_FOR_MS = 1_600;

/// A button that copies what `text()` gives at that moment; null if there is nothing to copy.
export function copyButton(text, { label = "Copy", name = null, className = "quiet small" } = {}) {
  const words = element("span", { "aria-live": "polite" }, label);
  const button = element("button", { type: "button", class: className, "aria-label": name }, icon("copy"), words);
  let timer = 0;
  button.addEventListener("click", async () => {
    const given = text();
    if (given === null) words.textContent = "Not copied";
    else words.textContent = (await copied(given)) ? "Copied" : "Press Ctrl+C";
    clearTimeout(timer);
    timer = setTimeout(() => {
      words.textContent = label;
    }, SHOWN_FOR_MS);
  });
  return button;
}

/// The clipboard is there on this machine and over TLS only; elsewhere the old way still works.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = element("textarea", { class: "off-screen", "aria-hidden": "true", value: text });
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
