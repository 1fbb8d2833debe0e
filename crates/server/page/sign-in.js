// The ways to sign in, and a sign-in that waits for the user: to sign in, or to confirm another account.

import { copyButton } from "./copy.js";
import { element, icon } from "./dom.js";

export function signInChoices() {
  return element(
    "div",
    { class: "stack" },
    element(
      "div",
      { class: "choices" },
      choice(
        "device-code",
        "Sign in with a code",
        "You get a short code, to enter in a browser on any machine. Works everywhere.",
      ),
      choice(
        "browser",
        "Sign in with a browser",
        "You sign in on OpenAI's page, in a browser on the machine where this server runs.",
      ),
    ),
    element(
      "details",
      {},
      element("summary", {}, "Use an OpenAI API key instead"),
      element(
        "form",
        { class: "stack", autocomplete: "off" },
        element(
          "p",
          { class: "muted" },
          "It is handed to Codex, which keeps it in its own home. Turns are then paid "
            + "by use, and there are no limits to show.",
        ),
        element(
          "div",
          { class: "field" },
          element("label", { for: "openai-key" }, "OpenAI key"),
          element("input", {
            id: "openai-key",
            name: "openai_key",
            type: "text",
            class: "masked mono",
            required: true,
            autocomplete: "off",
            spellcheck: "false",
            autocapitalize: "off",
            placeholder: "sk-…",
          }),
        ),
        element("div", { class: "row" }, element("button", { type: "submit" }, "Use this key")),
      ),
    ),
  );
}

function choice(act, title, words) {
  const id = `about-${act}`;
  return element(
    "div",
    { class: "choice" },
    element("button", { type: "button", class: "primary", "aria-describedby": id, id: act }, title),
    element("p", { class: "muted", id }, words),
  );
}

export function waitingLogin(login) {
  const link =
    login.url
    && element(
      "a",
      {
        class: "button primary",
        href: login.url,
        target: "_blank",
        rel: "noopener noreferrer",
        data: { testid: "login-link" },
      },
      icon("open"),
      "Open the sign-in page",
      element("span", { class: "sr-only" }, " (in a new tab)"),
    );
  const cancel = element("button", { type: "button", id: "cancel" }, "Cancel");
  const waiting = element(
    "p",
    { class: "muted with-icon" },
    icon("wait", "icon turning"),
    "This page goes on by itself when you have finished there.",
  );
  if (login.method !== "device_code") {
    return element(
      "div",
      { class: "stack" },
      element("p", {}, "Open the page, in a browser on the machine where this server runs, and sign in."),
      element("div", { class: "row" }, link, cancel),
      waiting,
    );
  }
  return element(
    "div",
    { class: "stack" },
    element(
      "ol",
      { class: "plain-list numbered" },
      element(
        "li",
        {},
        "Open ",
        element("span", { class: "mono break" }, login.url ?? ""),
        " in a browser, here or elsewhere, and sign in.",
      ),
      element(
        "li",
        {},
        "Enter this code there:",
        element(
          "div",
          { class: "device-code" },
          element("output", { class: "mono", data: { testid: "device-code" } }, login.code ?? ""),
          copyButton(() => login.code ?? "", { name: "Copy the code" }),
        ),
      ),
    ),
    element("div", { class: "row" }, link, cancel),
    waiting,
    element(
      "p",
      { class: "muted" },
      "Only enter the code on OpenAI's own page, and only because you asked for it here.",
    ),
  );
}

export function confirmingLogin({ account, replaces }) {
  return element(
    "div",
    { class: "stack" },
    element(
      "p",
      {},
      "You have signed in as ",
      element("strong", { data: { testid: "new-account" } }, account ?? ""),
      ". This server uses ",
      element("strong", { data: { testid: "present-account" } }, replaces ?? ""),
      ", and all its clients will use the new account if you confirm. Turns that are running finish first.",
    ),
    element(
      "div",
      { class: "row" },
      element("button", { type: "button", class: "primary", id: "confirm" }, "Use this account"),
      element("button", { type: "button", id: "cancel" }, "Keep the present one"),
    ),
  );
}
