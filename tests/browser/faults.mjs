// A child that is killed and a server that goes: the page says so, and comes back by itself.
import assert from "node:assert/strict";
import { ask, finish, json, key, launch, scenario } from "./browser.mjs";

await launch();

await scenario("a killed child is shown restarting, and back", {}, async (visit) => {
  // The page asks for the models when its child goes, and again when it is back.
  visit.tolerate(/^console: .*503 .*\/v1\/proxy\/models$/);
  const child = visit.test("codex");
  await visit.until(child, "Ready");
  await ask("kill the child");
  await visit.until(child, /Starting|Restarting/);
  await visit.until(child, "Ready");
  assert.equal((await json("/v1/proxy/status")).restarts, 1);
});

await scenario("a server that stops is told, and found again when it is back", {}, async (visit) => {
  visit.expect(/ERR_|401/);
  await visit.test("login-state").waitFor();
  await ask("stop the server");
  await visit.test("connection").waitFor();
  await visit.until(visit.test("server-state"), "Unknown");
  await visit.until(visit.test("codex"), "As of");
  await ask("start the server");
  // Its session has ended with the server.
  await visit.until(visit.alert(), "The session has ended.");
  await visit.enterKey(key);
  await visit.until(visit.test("codex"), "Ready");
});

await scenario("with a key that is remembered, the page finds a new server by itself", { at: "" }, async (visit) => {
  visit.expect(/ERR_|401/);
  await visit.page.getByLabel("Remember on this machine").check();
  await visit.enterKey(key);
  await visit.test("login-state").waitFor();
  await ask("stop the server");
  await visit.test("connection").waitFor();
  await ask("start the server");
  await visit.test("connection").waitFor({ state: "hidden" });
  await visit.until(visit.test("codex"), "Ready");
});

await finish();
