// One card per client, with settings to copy.

import { catalog, shownModels } from "./catalog.js";
import { CLIENTS } from "./client-settings.js";
import { copyButton } from "./copy.js";
import { element, fill, withCode } from "./dom.js";
import { hasModels } from "./live.js";
import { lastingOrigin } from "./session.js";

const BASE = `${lastingOrigin}/v1`;

/// Kept from one look at the view to the next, and no longer than the page.
let chosenModel = null;

/// Which versions were run against the server.
function testedWith({ tested, testing = "" }) {
  return tested.length === 0 ? testing : `Tested with ${tested.join(" and ")}. ${testing}`.trim();
}

export function clients(signal) {
  const cards = CLIENTS.map((client) => {
    const body = element("div", { class: "stack" });
    const card = element(
      "section",
      { class: "card client", id: client.id, "aria-labelledby": `${client.id}-title`, data: { testid: "client" } },
      element("h2", { id: `${client.id}-title`, tabindex: "-1" }, client.title),
      element("p", { class: "muted" }, withCode(client.about)),
      body,
      element("p", { class: "muted" }, testedWith(client)),
      client.remarks
        && element(
          "ul",
          { class: "plain-list remarks" },
          client.remarks.map((remark) => element("li", {}, withCode(remark))),
        ),
    );
    return { client, body, card };
  });
  const model = element("select", { id: "snippet-model" }, element("option", {}, "demo"));
  const show = () => {
    const given = { base: BASE, model: model.value };
    for (const { client, body } of cards)
      fill(
        body,
        client.blocks(given).map((block) => blockOf(block, client.title)),
      );
  };
  model.addEventListener("change", () => {
    chosenModel = model.value;
    show();
  });

  const offer = () => {
    const names = ["demo", ...shownModels().map(({ id }) => id), ...catalog.known.aliases.map(({ name }) => name)];
    fill(
      model,
      names.map((name) => element("option", { value: name }, name)),
    );
    model.value = chosenModel ?? ((hasModels() && catalog.known.default) || "demo");
    if (model.selectedIndex < 0) model.selectedIndex = 0;
    show();
  };
  catalog.addEventListener("change", offer, { signal });
  offer();
  jump(signal);

  return [
    element(
      "div",
      { class: "view-head" },
      element("h1", {}, "Clients"),
      element("p", { class: "headline" }, "Any client of OpenAI's API takes a base URL, a key and a model."),
    ),
    element(
      "div",
      { class: "card stack" },
      element(
        "dl",
        { class: "facts" },
        element(
          "div",
          {},
          element("dt", {}, "Base URL"),
          element(
            "dd",
            {},
            element(
              "span",
              { class: "copy-name" },
              element("code", {}, BASE),
              copyButton(() => BASE, { name: "Copy the base URL" }),
            ),
          ),
        ),
        element(
          "div",
          {},
          element("dt", {}, "Key"),
          element(
            "dd",
            {},
            withCode(
              "yours, or better one for each client: "
                + "`codex-completions key add NAME` makes it, `key revoke NAME` takes it back",
            ),
          ),
        ),
      ),
      element(
        "div",
        { class: "toolbar" },
        element(
          "div",
          { class: "field inline" },
          element("label", { for: "snippet-model" }, "Model in the snippets"),
          model,
        ),
      ),
      element(
        "p",
        { class: "muted" },
        withCode(
          "In the snippets `KEY` is an environment variable: "
            + "`export KEY=$(cat ~/.local/share/codex-completions/api-key)`",
        ),
      ),
    ),
    element(
      "nav",
      { class: "jump", "aria-label": "Clients" },
      CLIENTS.map((client) => element("a", { href: `#/clients/${client.id}` }, client.title)),
    ),
    element(
      "div",
      { class: "client-grid" },
      cards.map(({ card }) => card),
    ),
  ];
}

/// To the card that the address names.
function jump(signal) {
  const id = location.hash.split("/")[2];
  if (!id || !CLIENTS.some((client) => client.id === id)) return;
  requestAnimationFrame(() => {
    if (signal.aborted) return;
    document.getElementById(id)?.scrollIntoView();
    document.getElementById(`${id}-title`)?.focus({ preventScroll: true });
  });
}

function blockOf({ fields, code }, title) {
  if (code) {
    return element(
      "div",
      { class: "code-block" },
      element("pre", { class: "snippet", tabindex: "0", "aria-label": title }, code),
      copyButton(() => code, { name: `Copy: ${title}` }),
    );
  }
  return element(
    "dl",
    { class: "facts boxed" },
    fields.map(([name, value]) =>
      element(
        "div",
        {},
        element("dt", {}, name),
        element(
          "dd",
          {},
          value === null
            ? element("span", { class: "muted" }, "your key")
            : element(
                "span",
                { class: "copy-name" },
                element("code", {}, value),
                copyButton(() => value, { name: `Copy ${name}`, label: "" }),
              ),
        ),
      ),
    ),
  );
}
