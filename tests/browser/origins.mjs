// The page under another host name, and other pages.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { finish, json, key, launch, origin, scenario } from "./browser.mjs";

const { port } = new URL(origin);
const elsewhere = (host) => `http://${host}:${port}`;
// A page of somebody else's.
const strangers = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<!doctype html>"));
await new Promise((listening) => strangers.listen(0, "127.0.0.1", listening));
const stranger = `http://127.0.0.1:${strangers.address().port}`;

await launch("--host-resolver-rules=MAP *.test 127.0.0.1");

await scenario("the page works under a host name that is allowed", { from: elsewhere("home.test") }, async (visit) => {
  await visit.test("login-state").waitFor();
  await visit.view("Playground");
  await visit.field("Model").selectOption("demo");
  await visit.button("Send").click();
  await visit.test("call").nth(1).waitFor();
  await visit.view("Clients");
  await visit.until(visit.page.locator("main"), `${elsewhere("home.test")}/v1`);
});

await scenario("another host name gets nothing", { from: elsewhere("evil.test"), at: "" }, async (visit) => {
  visit.expect(/^console: .*403/);
  assert.equal(await visit.field("API key").count(), 0);
});

await scenario(
  "a page of another origin is refused, whatever key it has",
  { from: stranger, at: "" },
  async (visit) => {
    visit.expect(/^leaves: /);
    visit.expect(/^console: .*CORS/);
    visit.expect(/^failed: /);
    visit.expect(/^console: Failed to load resource: net::ERR_/);
    const read = (path, options) =>
      visit.page.evaluate(
        ([url, options]) =>
          fetch(url, options).then(
            (answer) => answer.type,
            (error) => error.name,
          ),
        [`${origin}${path}`, options],
      );
    const authorization = `Bearer ${key}`;
    assert.equal(await read("/v1/proxy/status", { headers: { authorization } }), "TypeError");
    assert.equal(await read("/page/app.js", {}), "TypeError");
    // What a page may send without asking does nothing, and its answer is kept from it.
    const body = JSON.stringify({ method: "device_code" });
    assert.equal(await read("/v1/proxy/login", { method: "POST", mode: "no-cors", body }), "TypeError");
    assert.equal((await json("/v1/proxy/status")).login, null);
  },
);

strangers.close();
await finish();
