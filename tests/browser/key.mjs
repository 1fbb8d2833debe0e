// The key: asked for, told wrong, taken from the printed link, kept and forgotten.
import assert from "node:assert/strict";
import { ask, finish, key, launch, origin, scenario } from "./browser.mjs";

const stored = (page) => page.evaluate(() => Object.values(localStorage).join("\n"));

await launch();

await scenario("the key is asked for when it is missing, and nothing is asked of the server before", { at: "" }, async (visit) => {
  const asked = [];
  visit.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await visit.field("API key").waitFor();
  await visit.page.reload();
  await visit.field("API key").waitFor();
  assert(asked.length > 2, `${asked}`);
  assert.deepEqual(asked.filter((path) => path !== "/" && !path.startsWith("/page/")), []);

  await visit.enterKey(key);
  await visit.until(visit.test("login-state"), "Nobody is signed in");
  assert.equal(await visit.field("API key").isVisible(), false);
});

await scenario("a wrong key is told, and the right one then taken", { at: "" }, async (visit) => {
  visit.expect(/^console: .*401/);
  await visit.enterKey("sk-of-somebody-else");
  await visit.until(visit.alert(), /key/i);
  assert(!(await stored(visit.page)).includes("sk-of-somebody-else"));
  await visit.enterKey(key);
  await visit.test("login-state").waitFor();
});

await scenario("a wrong key in the link asks for another", { at: "#key=sk-of-yesterday" }, async (visit) => {
  visit.expect(/^console: .*401/);
  await visit.until(visit.alert(), /key/i);
  await visit.enterKey(key);
  await visit.test("login-state").waitFor();
});

await scenario("a wrong key in a link takes nothing from the right one", {}, async (visit) => {
  visit.expect(/^console: .*401/);
  const { page } = visit;
  await visit.test("login-state").waitFor();
  const follow = async () => {
    const refused = page.waitForResponse((answer) => answer.status() === 401);
    await page.goto(`${origin}/#key=sk-of-a-foreign-page`);
    await refused;
    await visit.until(visit.test("server-state"), "Ready");
    assert.equal(await stored(page), key);
  };
  await follow();
  await page.goto("about:blank");
  await follow();
});

await scenario("a key that no header can carry is told in the form", { at: "" }, async (visit) => {
  await visit.enterKey("sk-прокси");
  await visit.page.getByText("A key has only plain letters, digits and signs").waitFor();
  await visit.enterKey(key);
  await visit.test("login-state").waitFor();
});

await scenario("the key of a client is explained", { at: "" }, async (visit) => {
  visit.expect(/^console: .*403/);
  await visit.enterKey(await ask("the key of a client"));
  await visit.until(visit.alert(), /owner/);
  assert.equal(await visit.test("login-state").isVisible(), false);
});

await scenario("the key of the link leaves the address bar, is kept, and forgotten when told", {}, async (visit) => {
  const { page } = visit;
  await visit.test("login-state").waitFor();
  assert(!page.url().includes(key), page.url());
  // Nor is it one step back.
  assert.equal(await page.evaluate(() => history.length), 2, "about:blank and the page");

  await page.reload();
  await visit.test("login-state").waitFor();
  await visit.view("Settings");
  await page.goto(`${origin}/#/turns`);
  await page.reload();
  await page.getByRole("heading", { name: "Turns", exact: true, level: 1 }).waitFor();

  await visit.button("Forget the key").click();
  await visit.field("API key").waitFor();
  assert(!(await stored(page)).includes(key));
  await page.reload();
  await visit.field("API key").waitFor();
});

await scenario("the key is nowhere in what the browser shows", {}, async (visit) => {
  for (const view of ["Overview", "Playground", "Turns", "Models", "Clients", "Settings"]) {
    await visit.view(view);
    assert(!(await visit.page.content()).includes(key), view);
  }
});

await finish();
