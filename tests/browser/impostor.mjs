// A process that takes the address of the server while a page of it is open, and while the page is loaded anew.
import assert from "node:assert/strict";
import { ask, finish, key, launch, origin, request, scenario } from "./browser.mjs";

await launch();

await scenario(
  "row 19b: an impostor at the page's address gets no key, and no session that is accepted",
  { at: "" },
  async (visit) => {
    const { page } = visit;
    visit.expect(/401|404|ERR_/);
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
    // What the impostor has left behind answers for the address; the page has another name in each run.
    await page.goto(`${origin}/`);
    await page.waitForFunction(() => document.title === "still the impostor");
    const { code, page: own } = await (await request("/v1/proxy/code", { method: "POST" })).json();
    const tab = await visit.context.newPage();
    await tab.goto(`${own}#code=${code}`);
    await tab.getByTestId("login-state").waitFor();
    assert.equal(await tab.evaluate(() => localStorage.length), 0);
  },
);

await scenario("row 19b: a page of one run asks for no key when that run is over", { at: "" }, async (visit) => {
  const { code, page: own } = await (await request("/v1/proxy/code", { method: "POST" })).json();
  const tab = await visit.context.newPage();
  await tab.goto(`${own}#code=${code}`);
  await tab.getByTestId("login-state").waitFor();
  // Clients are given the address that lasts.
  await tab.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Clients", exact: true }).click();
  await tab
    .locator("main")
    .filter({ hasText: `${origin}/v1` })
    .waitFor();
  assert(!(await tab.locator("main").innerText()).includes(".localhost"));
  await ask("start the server again");
  await tab.getByRole("heading", { name: "This page is closed" }).waitFor();
  assert.equal(await tab.getByLabel("API key", { exact: true }).count(), 0);
  await tab.getByRole("link", { name: origin }).click();
  await tab.getByLabel("API key", { exact: true }).waitFor();
});

await finish();
