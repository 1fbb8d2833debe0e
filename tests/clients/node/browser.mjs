// The `fetch` of a page, which asks for leave before it sends anything.

import assert from "node:assert/strict";

/** What is told to the browser itself, and not to pages. */
const NOT_FOR_PAGES = ["x-content-type-options"];

/** Headers that a page may send without asking. */
const SAFE = ["accept", "accept-language", "content-language"];

const names = (list) => (list ?? "").split(",").map((name) => name.trim().toLowerCase());

/**
 * A `fetch` for pages of this origin. The headers that it had to ask for are added to `asked`.
 */
export function fetchFrom(origin, asked = new Set()) {
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    const unsafe = [...headers.keys()].filter((name) => !SAFE.includes(name));
    for (const name of unsafe) asked.add(name);
    const preflight = await fetch(url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": init.method ?? "GET",
        "access-control-request-headers": unsafe.join(","),
      },
    });
    assert.ok(preflight.ok, `the preflight was answered with ${preflight.status}`);
    assert.equal(preflight.headers.get("access-control-allow-origin"), origin);
    const allowed = names(preflight.headers.get("access-control-allow-headers"));
    assert.deepEqual(
      unsafe.filter((name) => !allowed.includes(name)),
      [],
      "headers not allowed",
    );

    headers.set("origin", origin);
    const response = await fetch(url, { ...init, headers });
    assert.equal(response.headers.get("access-control-allow-origin"), origin);
    const exposed = names(response.headers.get("access-control-expose-headers"));
    const ours = [...response.headers.keys()].filter((name) => name.startsWith("x-"));
    const hidden = ours.filter((name) => !exposed.includes(name) && !NOT_FOR_PAGES.includes(name));
    assert.deepEqual(hidden, [], "headers not exposed");
    return response;
  };
}
