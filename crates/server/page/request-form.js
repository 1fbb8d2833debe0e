// What a request of the playground is made of: model, effort, system prompt, tools.

import { catalog, shownModels } from "./catalog.js";
import { element, fill } from "./dom.js";
import { hasModels } from "./live.js";
import { DEFAULT_TOOLS, parseTools } from "./tools-json.js";

const DEMO = "demo";

export class RequestForm {
  #model = element("select", {
    id: "model",
    on: {
      change: () => {
        this.#chosen = true;
        this.#showEfforts();
      },
    },
  });
  #effort = element("select", { id: "effort" });
  #effortField = element(
    "div",
    { class: "field", hidden: true },
    element("label", { for: "effort" }, "Effort"),
    this.#effort,
  );
  #system = element("textarea", { id: "system", rows: "3", placeholder: "None" });
  #tools = element("textarea", {
    id: "tools",
    rows: "12",
    class: "mono",
    spellcheck: "false",
    "aria-describedby": "tools-note",
    value: DEFAULT_TOOLS,
    on: { input: () => this.#checkTools() },
  });
  #toolsNote = element("p", { id: "tools-note", class: "field-note", "aria-live": "polite" });

  /// Whether somebody has chosen a model: a login must not change it then.
  #chosen = false;

  node = element(
    "div",
    { class: "stack" },
    element("div", { class: "field" }, element("label", { for: "model" }, "Model"), this.#model),
    this.#effortField,
    element("div", { class: "field" }, element("label", { for: "system" }, "System prompt"), this.#system),
    element(
      "div",
      { class: "field" },
      element(
        "div",
        { class: "field-head" },
        element("label", { for: "tools" }, "Tools (JSON)"),
        element(
          "button",
          { type: "button", class: "quiet small", on: { click: () => this.#setTools(DEFAULT_TOOLS) } },
          "Examples",
        ),
        element("button", { type: "button", class: "quiet small", on: { click: () => this.#setTools("") } }, "None"),
      ),
      this.#tools,
      this.#toolsNote,
    ),
  );

  constructor() {
    catalog.addEventListener("change", () => this.#showModels());
    this.#showModels();
    this.#checkTools();
  }

  get model() {
    return this.#model.value;
  }

  /// The request without its messages, or null if the tools are not right (the field then says why).
  parameters() {
    const { tools, problem } = parseTools(this.#tools.value);
    if (problem) {
      this.#tools.focus();
      return null;
    }
    const request = { model: this.model };
    if (!this.#effortField.hidden && this.#effort.value) request.reasoning_effort = this.#effort.value;
    if (tools.length > 0) request.tools = tools;
    return request;
  }

  get systemMessages() {
    const content = this.#system.value.trim();
    return content ? [{ role: "system", content }] : [];
  }

  #showModels() {
    const before = this.#model.value;
    const { default: preferred, aliases } = catalog.known;
    const group = (label, options) => options.length > 0 && element("optgroup", { label }, options);
    const real = group(
      "Models",
      shownModels().map((model) => option(model.id)),
    );
    const others = group(
      "Other names",
      aliases.map(({ name }) => option(name)),
    );
    const demo = group("Without an account", [option(DEMO)]);
    fill(this.#model, ...(hasModels() ? [real, others, demo] : [demo, real, others]));
    const wanted = this.#chosen ? before : hasModels() && preferred ? preferred : DEMO;
    this.#model.value = wanted;
    if (this.#model.selectedIndex < 0) this.#model.selectedIndex = 0;
    this.#showEfforts();
  }

  #showEfforts() {
    const alias = catalog.known.aliases.find(({ name }) => name === this.model);
    const model = catalog.known.models.find(({ id }) => id === (alias?.model ?? this.model));
    const efforts = model?.efforts ?? [];
    const usual = alias?.effort ?? model?.default_effort;
    this.#effortField.hidden = efforts.length === 0;
    fill(
      this.#effort,
      element("option", { value: "" }, usual ? `As it comes (${usual})` : "As it comes"),
      efforts.map((effort) => option(effort)),
    );
  }

  #setTools(text) {
    this.#tools.value = text;
    this.#checkTools();
  }

  #checkTools() {
    const { tools, problem } = parseTools(this.#tools.value);
    this.#tools.setAttribute("aria-invalid", problem ? "true" : "false");
    this.#toolsNote.classList.toggle("bad", Boolean(problem));
    const names = tools?.map((tool) => tool.function.name).join(", ");
    this.#toolsNote.textContent = problem ?? (names ? `Offered: ${names}` : "No tools are offered.");
  }
}

const option = (name) => element("option", { value: name }, name);
