// How much of the account's allowance is used, as bars.

import { element, note } from "./dom.js";
import { resets, timeOfDay, windowOf } from "./words.js";

const NEARLY_USED = 80;

export function limits(account) {
  const { primary, secondary, credits, reached, reason, as_of: asOf } = account;
  const bars = [primary, secondary].filter(Boolean);
  return element(
    "div",
    { class: "limits stack", data: { testid: "limits" } },
    reached && note("warn", "A limit is reached. Turns are refused until it resets."),
    bars.map(bar),
    bars.length === 0 && reason && element("p", { class: "muted" }, `No limits are shown: ${reason}.`),
    credits && element("p", {}, `Credits: ${credits}`),
    asOf && element("p", { class: "muted" }, `As of ${timeOfDay(asOf * 1000)}.`),
  );
}

function bar({ used_percent: used, window_minutes: minutes, resets_at: at }) {
  const name = minutes ? `Limit of ${windowOf(minutes)}` : "Limit";
  const share = Math.min(100, Math.max(0, used));
  const kind = share >= 100 ? "full" : share >= NEARLY_USED ? "high" : "";
  const inner = element("div", { class: `bar-inner ${kind}` });
  inner.style.width = `${share}%`;
  return element(
    "div",
    { class: "limit" },
    element(
      "div",
      { class: "limit-words" },
      element("span", {}, name),
      element("span", {}, element("strong", {}, `${used} % used`), at ? ` · ${resets(at)}` : ""),
    ),
    element(
      "div",
      {
        class: "bar-outer",
        role: "meter",
        "aria-label": name,
        "aria-valuemin": "0",
        "aria-valuemax": "100",
        "aria-valuenow": share,
        "aria-valuetext": `${used} % used`,
      },
      inner,
    ),
  );
}
