// A process that takes the address of the server while a page of it is open, and while the page is loaded anew.
import assert from "node:assert/strict";
import { ask, finish, key, launch, origin, scenario } from "./browser.mjs";

await launch();

await scenario("row 19b: an impostor at the page's address gets no key, and no session that is accepted", { at: "" }, async (visit) => {
  const { page } = visit;
  visit.expect(/401|ERR_/);
  await visit.enterKey(key);
  await visit.test("login-state").waitFor();

  // The page connects again, to whatever answers.
  await ask("put an impostor in the place of the server");
  await visit.until(visit.alert(), "The session has ended.");
  // And when it is loaded anew, the impostor's own page runs at this address.
  await page.goto(`${origin}/`);
  await page.waitForFunction(() => document.title === "found");
  const received = await ask("what the impostor has received");
  assert(!received.includes(key), received);
  const [session] = /session-[\w-]{43}/.exec(received);

  await ask("start the server again");
  const headers = { authorization: `Bearer ${session}` };
  assert.equal((await fetch(`${origin}/v1/proxy/status`, { headers })).status, 401);
  assert.equal((await fetch(`${origin}/v1/proxy/session`, { method: "POST", headers })).status, 401);
  await page.goto(`${origin}/`);
  await visit.field("API key").waitFor();
});

await finish();
