// The pictures of docs/page.md: the real server, with a scripted login and turns of clients that are not there.
import { join } from "node:path";
import { ask, finish, key, launch, request, scenario } from "./browser.mjs";

const DOCS = join(import.meta.dirname, "../../docs");
const WIDE = { viewport: { width: 1280, height: 800 }, colorScheme: "light" };
const DARK = { ...WIDE, colorScheme: "dark" };
const PHONE = { viewport: { width: 390, height: 800 }, deviceScaleFactor: 1.5, colorScheme: "light" };

const TOOLS = ["searchNotes", "readNote", "get_weather"].map((name) => ({ type: "function", function: { name } }));

/** A turn of a client that says it is `agent`. Gives its answer. */
function turn(agent, body, path = "/v1/chat/completions", more = {}) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "user-agent": agent };
  return request(path, { method: "POST", headers, body: { model: "demo", stream: true, ...body }, ...more });
}

const said = (content) => ({ messages: [{ role: "user", content }] });

/** The page as it is on the screen, once it stands still. */
async function picture(visit, name) {
  await visit.page.evaluate(() => document.fonts.ready);
  await visit.page.screenshot({ path: join(DOCS, `${name}.png`), animations: "disabled" });
}

await launch("--force-color-profile=srgb");

await scenario("phone", { screen: PHONE }, async (visit) => {
  await ask("reset the limits soon");
  await ask("consent pending");
  await visit.button("Sign in with a code").click();
  await visit.test("device-code").waitFor();
  await picture(visit, "page-phone");
  await ask("consent given");
  await visit.until(visit.test("limits"), "used");
});

const obsidian = "Mozilla/5.0 (X11; Linux x86_64) obsidian/1.10.3 Chrome/142.0.0.0 Electron/39.0.0";
await (await turn("OpenAI/Python 2.9.0", said("Hello"))).text();
await (await turn("ai-sdk/openai/3.0.139", { input: "[[slow:900]]" }, "/v1/responses")).text();
await (await turn(obsidian, { ...said("Which notes are about the weather?"), tools: TOOLS })).text();
await (await turn("Zed/0.218.0", said("[[http:503]]"))).text();
await (await turn("LangChain/1.5.8", { ...said("[[slow:1400]]"), max_tokens: 8 })).text();
await (await turn("OpenAI/JS 6.49.0", { ...said("What is the weather in Rome?"), tools: TOOLS })).text();

const left = new AbortController();
await turn(obsidian, { ...said("[[hang]]") }, undefined, { signal: left.signal });

await scenario("turns", { screen: DARK }, async (visit) => {
  await visit.view("Turns");
  await visit.page.locator('[data-testid="turn"][data-state="running"]').waitFor();
  await picture(visit, "page-turns");
});

await scenario("overview", { screen: WIDE }, async (visit) => {
  await visit.until(visit.test("limits"), "used");
  await visit.page.locator(".figure-value").first().waitFor();
  await picture(visit, "page-overview");
});
left.abort();

await scenario("playground", { screen: { ...WIDE, viewport: { width: 1280, height: 960 } } }, async (visit) => {
  await visit.view("Playground");
  await visit.field("Model").selectOption("demo");
  await visit.button("Send").click();
  await visit.field("Answer to get_weather").fill('{"temperature": "21 °C", "sky": "sunny"}');
  await visit.field("Answer to get_time").fill("14:05");
  await visit.button("Continue with these answers").click();
  await visit.until(visit.test("answer-text").nth(1), "in its own words");
  await visit.button("Stop").waitFor({ state: "hidden" });
  await visit.page.evaluate(() => window.scrollTo(0, 0));
  await picture(visit, "page-playground");
});

await scenario("clients", { screen: { ...WIDE, viewport: { width: 1280, height: 960 } } }, async (visit) => {
  await visit.view("Clients");
  await visit.page.getByLabel("Model in the snippets").selectOption("chat");
  await picture(visit, "page-clients");
});

await finish();
