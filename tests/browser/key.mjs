// The page's session: opened with the key or with a link, of one tab and one run, and ended.
import assert from "node:assert/strict";
import { ask, finish, key, launch, link, origin, request, scenario } from "./browser.mjs";

/** Everything that the browser has stored for this address. */
const stored = (page) => page.evaluate(() => [localStorage, sessionStorage].flatMap(Object.values).join("\n"));

/** What a request with this credential is answered with. */
async function status(credential) {
  const headers = { authorization: `Bearer ${credential}` };
  return (await fetch(`${origin}/v1/proxy/status`, { headers })).status;
}

await launch();

await scenario(
  "the key is asked for when it is missing, and nothing is asked of the server before",
  { at: "" },
  async (visit) => {
    const asked = [];
    visit.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await visit.field("API key").waitFor();
    await visit.page.reload();
    await visit.field("API key").waitFor();
    assert(asked.length > 2, `${asked}`);
    assert.deepEqual(
      asked.filter((path) => path !== "/" && !path.startsWith("/page/")),
      [],
    );

    await visit.enterKey(key);
    await visit.until(visit.test("login-state"), "Nobody is signed in");
    assert.equal(await visit.field("API key").isVisible(), false);
  },
);

await scenario("a wrong key is refused, and the right one then taken", { at: "" }, async (visit) => {
  visit.expect(/^console: .*401/);
  await visit.enterKey("sk-of-another-server");
  await visit.until(visit.alert(), /key/i);
  assert(!(await stored(visit.page)).includes("sk-of-another-server"));
  await visit.enterKey(key);
  await visit.test("login-state").waitFor();
});

await scenario(
  "row 19b: the key is exchanged for a session of this tab, and stored nowhere",
  { at: "" },
  async (visit) => {
    const sent = [];
    visit.page.on("request", (request) =>
      sent.push([new URL(request.url()).pathname, request.headers().authorization]),
    );
    await visit.enterKey(key);
    await visit.test("login-state").waitFor();
    await visit.view("Playground");
    await visit.button("Send").click();
    await visit.test("call").first().waitFor();
    const withKey = sent.filter(([, authorization]) => authorization === `Bearer ${key}`).map(([path]) => path);
    assert.deepEqual(withKey, ["/v1/proxy/session"]);
    const token = await stored(visit.page);
    assert.match(token, /^session-[\w-]{43}$/);
    assert.deepEqual(await visit.context.cookies(), []);

    // Another tab has a session of its own; this one has it after a reload.
    await visit.page.reload();
    await visit.view("Overview");
    const other = await visit.context.newPage();
    await other.goto(`${origin}/`);
    await other.getByLabel("API key", { exact: true }).waitFor();
    assert.equal(await status(token), 200);
  },
);

await scenario("row 19b: a link opens the page once", { at: "" }, async (visit) => {
  visit.expect(/^console: .*401/);
  const { page } = visit;
  const once = await link();
  await page.goto(`${origin}/${once}`);
  await visit.test("login-state").waitFor();
  assert(!page.url().includes("code"), page.url());
  // Nor is it one step back.
  await page.evaluate(() => sessionStorage.clear());
  await page.goto("about:blank");
  await page.goto(`${origin}/${once}`);
  await visit.until(visit.alert(), "This link opens nothing any more.");
  await visit.enterKey(key);
  await visit.test("login-state").waitFor();
});

await scenario("a wrong code in a link changes nothing about the session", {}, async (visit) => {
  visit.expect(/^console: .*401/);
  const { page } = visit;
  await visit.test("login-state").waitFor();
  const before = await stored(page);
  const follow = async () => {
    const refused = page.waitForResponse((answer) => answer.status() === 401);
    await page.goto(`${origin}/#code=code-of-a-foreign-page`);
    await refused;
    await visit.until(visit.test("server-state"), "Ready");
    assert.equal(await stored(page), before);
  };
  await follow();
  await page.goto("about:blank");
  await follow();
});

await scenario(
  "row 19b: a key that version 0.1 has stored is used once more, and removed",
  { at: "" },
  async (visit) => {
    await visit.field("API key").waitFor();
    await visit.page.evaluate((key) => localStorage.setItem("codex-completions.key", key), key);
    await visit.page.reload();
    await visit.test("login-state").waitFor();
    assert(!(await stored(visit.page)).includes(key));
    // Its printed links had the key itself.
    await visit.page.evaluate(() => sessionStorage.clear());
    await visit.page.goto("about:blank");
    await visit.page.goto(`${origin}/#key=${key}`);
    await visit.test("login-state").waitFor();
    assert(!visit.page.url().includes(key) && !(await stored(visit.page)).includes(key));
  },
);

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

await scenario("row 19b: a locked page has ended its session, and asks again", {}, async (visit) => {
  const { page } = visit;
  await visit.test("login-state").waitFor();
  const token = await stored(page);
  assert.equal(await status(token), 200);
  await visit.view("Settings");
  await page.goto(`${origin}/#/turns`);
  await page.reload();
  await page.getByRole("heading", { name: "Turns", exact: true, level: 1 }).waitFor();

  await visit.button("Lock the page").click();
  await visit.field("API key").waitFor();
  assert.equal(await stored(page), "");
  assert.equal(await status(token), 401);
  await page.reload();
  await visit.field("API key").waitFor();
});

await scenario("row 19b: a second link ends the session of the first, and locking ends both", {}, async (visit) => {
  const { page } = visit;
  await visit.test("login-state").waitFor();
  const first = await stored(page);
  const ended = page.waitForResponse((answer) => answer.request().method() === "DELETE");
  await page.goto(`${origin}/${await link()}`);
  await ended;
  const second = await stored(page);
  assert.notEqual(second, first);
  assert.deepEqual([await status(first), await status(second)], [401, 200]);
  await visit.button("Lock the page").click();
  await visit.field("API key").waitFor();
  assert.equal(await status(second), 401);
});

await scenario("row 19b: a page that is locked while a link is tried stays locked", {}, async (visit) => {
  const { page } = visit;
  visit.tolerate(/^failed: net::ERR_ABORTED .*\/v1\/proxy\/session$/);
  await visit.test("login-state").waitFor();
  const another = await link();
  let tried;
  const held = new Promise((resolve) => {
    tried = resolve;
  });
  await page.route("**/v1/proxy/session", async (route) => {
    if (route.request().method() === "POST") tried();
    // Its answer comes when the page is locked already.
    await new Promise((resolve) => {
      setTimeout(resolve, route.request().method() === "POST" ? 1_000 : 0);
    });
    await route.continue().catch(() => {});
  });
  await page.evaluate((fragment) => {
    location.hash = fragment;
  }, another);
  await held;
  await visit.button("Lock the page").click();
  await visit.field("API key").waitFor();
  assert.equal(await stored(page), "");
});

await scenario("row 19b: a stream of events ends with its session", {}, async (visit) => {
  visit.expect(/^console: .*401/);
  await visit.test("login-state").waitFor();
  const headers = { authorization: `Bearer ${await stored(visit.page)}` };
  const stream = await fetch(`${origin}/v1/proxy/events`, { headers });
  assert.equal((await fetch(`${origin}/v1/proxy/session`, { method: "DELETE", headers })).status, 200);
  // To its end, which comes only if it is cut.
  await stream.text();
  await visit.until(visit.alert(), "The session has ended.");
  assert.equal(await stored(visit.page), "");
});

await scenario("row 19b: a key is remembered where that is wanted, and forgotten", { at: "" }, async (visit) => {
  const { page } = visit;
  const box = page.getByLabel("Remember on this machine");
  assert.equal(await box.isChecked(), false);
  await page.getByText("can read it there").waitFor();
  await box.check();
  await visit.enterKey(key);
  await visit.test("login-state").waitFor();
  const other = await visit.context.newPage();
  await other.goto(`${origin}/`);
  await other.getByTestId("login-state").waitFor();
  await other.close();
  await visit.button("Lock the page").click();
  await visit.field("API key").waitFor();
  assert.equal(await stored(page), "");
});

await scenario("row 19b: a session is the owner's, and opens no other", {}, async (visit) => {
  await visit.test("login-state").waitFor();
  const token = await stored(visit.page);
  const open = (credential) =>
    fetch(`${origin}/v1/proxy/session`, { method: "POST", headers: { authorization: `Bearer ${credential}` } });
  assert.equal((await open(token)).status, 401);
  const code = await fetch(`${origin}/v1/proxy/code`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(code.status, 403, "a session must not outlive its end by a code");
  assert.equal((await open("code-guessed")).status, 401);
  assert.equal((await open(await ask("the key of a client"))).status, 403);
  assert.equal((await request("/v1/proxy/session", { method: "DELETE" })).status, 401, "a key is no session");
});

await scenario("the key is nowhere in what the browser shows", {}, async (visit) => {
  for (const view of ["Overview", "Playground", "Turns", "Models", "Clients", "Settings"]) {
    await visit.view(view);
    assert(!(await visit.page.content()).includes(key), view);
  }
});

await finish();
