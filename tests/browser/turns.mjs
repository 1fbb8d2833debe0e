// Turns appear as they happen, whoever asks.
import assert from "node:assert/strict";
import { finish, json, launch, request, scenario } from "./browser.mjs";

await launch();

const chat = (content, more = {}) => ({
  method: "POST",
  body: { model: "demo", stream: true, messages: [{ role: "user", content }], ...more },
});

await scenario("turns of another client appear and end without a reload", {}, async (visit) => {
  await visit.view("Turns");
  const rows = visit.test("turn");
  assert.equal(await rows.count(), 0);

  const leave = new AbortController();
  const answer = await request("/v1/chat/completions", { ...chat("[[hang]]"), signal: leave.signal });
  const running = rows.and(visit.page.locator("[data-state=running]"));
  await running.waitFor();
  await visit.until(running, "another-client");
  await visit.until(running, "demo");
  assert.equal(await rows.count(), 1);

  leave.abort();
  await answer.text().catch(() => {});
  await rows.and(visit.page.locator("[data-state=ended]")).waitFor();
  assert.equal(await rows.count(), 1);

  // The newest is on top, with its calls by name; nothing of what was said is shown.
  await (await request("/v1/chat/completions", chat("the weather of Ulm", { tools: [tool("get_weather")] }))).text();
  await visit.until(rows.first(), "get_weather");
  assert.equal(await rows.count(), 2);
  assert(!(await visit.page.content()).includes("Ulm"));
});

await scenario("failures can be looked at alone", {}, async (visit) => {
  await (await request("/v1/chat/completions", chat("[[http:500]]"))).text();
  await visit.view("Turns");
  const rows = visit.test("turn");
  await rows.nth(2).waitFor();
  await visit.page.getByLabel(/fail/i).check();
  await rows.nth(1).waitFor({ state: "hidden" });
  const failed = (await json("/v1/proxy/turns")).turns.filter((turn) => turn.failed);
  assert.equal(await rows.count(), failed.length);
});

function tool(name) {
  return {
    type: "function",
    function: { name, parameters: { type: "object", properties: { city: { type: "string" } } } },
  };
}

await finish();
