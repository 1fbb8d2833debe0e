// Every view for everybody: light, dark and on a phone, with a screen reader, with the keyboard alone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { finish, launch, request, scenario } from "./browser.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const VIEWS = ["Overview", "Playground", "Turns", "Models", "Clients", "Settings"];
const SCREENS = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { colorScheme: "light", viewport: { width: 360, height: 740 }, hasTouch: true },
};

/** What is wrong with the page as it is, for people who cannot see or point. */
async function findings(page) {
  // Evaluated by the debugger, which the content security policy does not concern.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const { violations } = await page.evaluate("axe.run(document, {resultTypes: ['violations']})");
  return violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`));
}

/** Elements that stick out of the screen. */
const tooWide = (page) =>
  page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const wide = [...document.querySelectorAll("body *")].filter(
      (element) => element.getBoundingClientRect().right > width + 1,
    );
    return wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 120));
  });

await launch();
const chat = (content) => ({ method: "POST", body: { model: "demo", messages: [{ role: "user", content }] } });
await (await request("/v1/chat/completions", chat("hello"))).text();
await (await request("/v1/chat/completions", chat("[[http:500]]"))).text();

for (const [name, screen] of Object.entries(SCREENS)) {
  await scenario(`nobody is shut out: ${name}`, { screen: { ...screen, reducedMotion: "reduce" } }, async (visit) => {
    const { page } = visit;
    for (const view of VIEWS) {
      await visit.view(view);
      if (view === "Playground") {
        await visit.button("Send").click();
        await visit.button("Continue with these answers").waitFor();
      }
      if (view === "Turns") await visit.test("turn").nth(1).waitFor();
      if (view === "Settings") await page.locator("[data-setting]").first().waitFor();
      assert.deepEqual(await findings(page), [], view);
      assert.deepEqual(await tooWide(page), [], view);
      assert((await page.title()).includes(view), await page.title());
    }
    await visit.button("Lock the page").click();
    await visit.field("API key").waitFor();
    assert.deepEqual(await findings(page), [], "the form of the key");
    assert.deepEqual(await tooWide(page), [], "the form of the key");
  });
}

await scenario("the theme can be chosen, and is kept", { screen: SCREENS.light }, async (visit) => {
  const background = () => visit.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await visit.test("login-state").waitFor();
  const light = await background();
  const seen = new Set([light]);
  // It may go through "as the system has it".
  for (let times = 0; times < 3 && seen.size < 2; times += 1) {
    await visit.page.getByRole("button", { name: /^Theme/ }).click();
    seen.add(await background());
  }
  assert.equal(seen.size, 2);
  const chosen = await background();
  await visit.page.reload();
  await visit.test("login-state").waitFor();
  assert.equal(await background(), chosen);
});

await scenario("from the first page to an answer with the keyboard alone", {}, async (visit) => {
  const { page } = visit;
  await visit.test("login-state").waitFor();
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement;
      return element.labels?.[0]?.textContent.trim() || element.ariaLabel || element.textContent.trim();
    });
  /** Presses Tab until something of this name has the focus. */
  const tabTo = async (name) => {
    const passed = [];
    while ((await focused()) !== name) {
      passed.push(await focused());
      assert(passed.length < 60, `${name} is not reached: ${passed}`);
      await page.keyboard.press("Tab");
    }
    const outlined = await page.evaluate(() => {
      const { outlineStyle, boxShadow } = getComputedStyle(document.activeElement);
      return outlineStyle !== "none" || boxShadow !== "none";
    });
    assert(outlined, `${name} does not show its focus`);
  };
  await tabTo("Playground");
  await page.keyboard.press("Enter");
  await visit.field("Message").waitFor();
  await tabTo("Message");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("the weather, please");
  await tabTo("Send");
  await page.keyboard.press("Enter");
  await visit.test("call").first().waitFor();
});

await finish();
