// Asking whether somebody means it.

import { element } from "./dom.js";

/// True if the answer is yes; leaving the question means no.
export function confirmed({ title, words, yes, no }) {
  return new Promise((resolve) => {
    const dialog = element(
      "dialog",
      { "aria-labelledby": "dialog-title", "aria-describedby": "dialog-words" },
      element(
        "form",
        { method: "dialog", class: "stack" },
        element("h2", { id: "dialog-title" }, title),
        element("p", { id: "dialog-words" }, words),
        element(
          "div",
          { class: "row end" },
          element("button", { value: "no", autofocus: true }, no),
          element("button", { value: "yes", class: "danger" }, yes),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
