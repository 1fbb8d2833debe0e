// The settings in force, and where each comes from.

import { json } from "./api.js";
import { element, note, withCode } from "./dom.js";
import { listen } from "./live.js";

export function settings(signal) {
  const filter = element("input", {
    type: "search",
    id: "settings-filter",
    placeholder: "A name or a word",
    spellcheck: "false",
  });
  const changedOnly = element("input", { type: "checkbox", id: "changed-only" });
  const told = element("p", { class: "muted", role: "status" });
  const warnings = element("div", { class: "stack" });
  const groups = element("div", { class: "stack wide-gap" }, element("p", { class: "muted" }, "One moment…"));
  let known = [];

  const show = () => {
    const wanted = filter.value.trim().toLowerCase();
    const fits = (setting) =>
      (!changedOnly.checked || !setting.is_default)
      && `${setting.name} ${setting.meaning} ${setting.value ?? ""}`.toLowerCase().includes(wanted);
    const shown = known.filter(fits);
    const changed = known.filter((setting) => !setting.is_default).length;
    told.textContent = `${shown.length} of ${known.length} shown, ${changed} changed`;
    groups.replaceChildren(...groupsOf(shown));
  };
  const load = async () => {
    try {
      const answer = await json("GET", "/v1/proxy/settings");
      if (signal.aborted) return;
      known = answer.settings;
      warnings.replaceChildren(...answer.warnings.map((warning) => note("warn", withCode(String(warning)))));
      show();
    } catch (error) {
      if (!signal.aborted && !error.isAboutTheKey) groups.replaceChildren(note("bad", error.message));
    }
  };
  filter.addEventListener("input", show);
  changedOnly.addEventListener("change", show);
  listen(["settings", "connection"], load, signal);
  load();

  return [
    element(
      "div",
      { class: "view-head" },
      element("h1", {}, "Settings"),
      element(
        "p",
        { class: "headline" },
        "What is in force, and where it comes from. They are changed in the environment, "
          + "in the file of --env-file or in the TOML file, not here.",
      ),
    ),
    warnings,
    element(
      "div",
      { class: "toolbar" },
      element("div", { class: "field inline" }, element("label", { for: "settings-filter" }, "Filter"), filter),
      element("label", { class: "check" }, changedOnly, "Only changed ones"),
      told,
    ),
    groups,
  ];
}

function groupsOf(shown) {
  if (shown.length === 0) return [element("p", { class: "empty" }, "No setting fits.")];
  const names = [...new Set(shown.map((setting) => setting.group))];
  return names.map((name, index) =>
    element(
      "section",
      { "aria-labelledby": `group-${index}` },
      element("h2", { id: `group-${index}` }, name),
      element(
        "div",
        { class: "card flush" },
        element("ul", { class: "settings-list" }, shown.filter((setting) => setting.group === name).map(row)),
      ),
    ),
  );
}

function row(setting) {
  return element(
    "li",
    { class: setting.is_default ? "" : "changed", data: { setting: setting.name } },
    element(
      "div",
      { class: "setting-head" },
      element("code", { class: "setting-name" }, setting.name),
      !setting.is_default && element("span", { class: "tag" }, "changed"),
      !setting.live && element("span", { class: "tag plain" }, "at the next start"),
    ),
    element(
      "div",
      { class: "setting-value" },
      setting.value === null || setting.value === ""
        ? element("span", { class: "muted" }, "not set", setting.unset_means && [": ", withCode(setting.unset_means)])
        : element("code", {}, setting.value),
      element(
        "span",
        { class: "sub" },
        setting.source === "default" ? "default" : `from ${sourceWords(setting.source)}`,
      ),
    ),
    element("p", { class: "muted" }, withCode(setting.meaning)),
  );
}

const sourceWords = (source) => (source === "environment" ? "the environment" : source);
