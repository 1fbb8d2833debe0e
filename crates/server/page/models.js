// Which models can be asked, and under which names.

import { catalog, shownModels } from "./catalog.js";
import { copyButton } from "./copy.js";
import { element, note, withCode } from "./dom.js";
import { hasModels } from "./live.js";

export function models(signal) {
  const body = element("div", { class: "stack wide-gap" }, element("p", { class: "muted" }, "One moment…"));
  const show = () => {
    if (catalog.failure) body.replaceChildren(note("bad", catalog.failure.message));
    else if (catalog.known.models.length > 0) body.replaceChildren(...parts(catalog.known));
  };
  catalog.addEventListener("change", show, { signal });
  show();
  return [
    element(
      "div",
      { class: "view-head" },
      element("h1", {}, "Models"),
      element("p", { class: "headline" }, "What can stand in a request's ", element("code", {}, "model"), "."),
    ),
    body,
  ];
}

function parts({ default: preferred, models: all, aliases }) {
  const hidden = all.filter((model) => model.hidden);
  return [
    !hasModels()
      && note(
        "info",
        element("strong", {}, "Nobody is signed in. "),
        "Until then only ",
        element("code", {}, "demo"),
        " answers; every other model is refused with a 401. ",
        element("a", { href: "#/overview" }, "Sign in"),
        ".",
      ),
    element(
      "section",
      { "aria-labelledby": "models-all" },
      element("h2", { id: "models-all" }, "Models"),
      element(
        "ul",
        { class: "model-grid" },
        shownModels().map((model) => modelCard(model, preferred)),
        demoCard(),
      ),
    ),
    aliases.length > 0
      && element(
        "section",
        { "aria-labelledby": "models-aliases" },
        element("h2", { id: "models-aliases" }, "Other names"),
        element(
          "p",
          { class: "muted" },
          withCode(
            "For clients that choose an endpoint or an effort by the name. " + "`PROXY_MODEL_ALIASES` adds your own.",
          ),
        ),
        aliasTable(aliases),
      ),
    obsidianNames(),
    hidden.length > 0
      && element(
        "details",
        {},
        element("summary", {}, `${hidden.length} more that Codex does not list by default`),
        element(
          "ul",
          { class: "model-grid" },
          hidden.map((model) => modelCard(model, preferred)),
        ),
      ),
  ].filter(Boolean);
}

function name(id) {
  return element(
    "span",
    { class: "copy-name" },
    element("code", {}, id),
    copyButton(() => id, { name: `Copy ${id}`, label: "" }),
  );
}

function modelCard(model, preferred) {
  const isDefault = model.default || model.id === preferred;
  return element(
    "li",
    { class: "card model" },
    element(
      "div",
      { class: "model-head" },
      element("h3", {}, name(model.id)),
      isDefault && element("span", { class: "tag" }, "default"),
    ),
    element("p", {}, model.description),
    element(
      "dl",
      { class: "facts compact" },
      model.efforts?.length > 0
        && element(
          "div",
          {},
          element("dt", {}, "Efforts"),
          element(
            "dd",
            {},
            model.efforts.map((effort) =>
              element(
                "span",
                { class: effort === model.default_effort ? "tag" : "tag plain" },
                effort,
                effort === model.default_effort && element("span", { class: "sr-only" }, " (unless told)"),
              ),
            ),
          ),
        ),
      model.input?.length > 0
        && element("div", {}, element("dt", {}, "Takes"), element("dd", {}, model.input.join(", "))),
    ),
  );
}

function demoCard() {
  return element(
    "li",
    { class: "card model" },
    element(
      "div",
      { class: "model-head" },
      element("h3", {}, name("demo")),
      element("span", { class: "tag" }, "no account"),
    ),
    element("p", {}, "Built in: a scripted model behind the same Codex. It calls the tools that fit the question."),
  );
}

function aliasTable(aliases) {
  return element(
    "div",
    { class: "card flush scroll", tabindex: "0", role: "group", "aria-label": "Other names" },
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          ["Name", "Stands for", "Effort"].map((title) => element("th", { scope: "col" }, title)),
        ),
      ),
      element(
        "tbody",
        {},
        aliases.map((alias) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, name(alias.name)),
            element("td", { class: "mono" }, alias.model),
            element("td", {}, alias.effort ?? element("span", { class: "muted" }, "the model's own")),
          ),
        ),
      ),
    ),
  );
}

function obsidianNames() {
  const rows = [
    ["`gpt-5…` (begins so)", "`/v1/responses`", "every version"],
    ["any name with `codex`", "`/v1/responses`", "4.x; chat completions before"],
    ["`chat`, `chat-low`, `chat-medium`, `chat-high`, and all others", "`/v1/chat/completions`", "every version"],
  ];
  return element(
    "section",
    { "aria-labelledby": "models-obsidian" },
    element("h2", { id: "models-obsidian" }, "In Obsidian Copilot the name decides the endpoint"),
    element(
      "div",
      { class: "card flush scroll", tabindex: "0", role: "group", "aria-label": "Names in Obsidian Copilot" },
      element(
        "table",
        {},
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            ["Name", "Goes to", "In"].map((title) => element("th", { scope: "col" }, title)),
          ),
        ),
        element(
          "tbody",
          {},
          rows.map(([first, ...rest]) =>
            element(
              "tr",
              {},
              element("th", { scope: "row" }, withCode(first)),
              rest.map((text) => element("td", {}, withCode(text))),
            ),
          ),
        ),
      ),
    ),
  );
}
