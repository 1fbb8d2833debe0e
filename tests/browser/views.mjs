// Models, clients and settings say what the API says.
import assert from "node:assert/strict";
import { finish, json, key, launch, origin, scenario } from "./browser.mjs";

await launch();

await scenario("every model and alias is shown with what it stands for", {}, async (visit) => {
  await visit.view("Models");
  const { models, aliases } = await json("/v1/proxy/models");
  const main = visit.page.locator("main");
  await visit.until(main, models[0].id);
  const text = await main.innerText();
  for (const { id, hidden } of models) assert(hidden || text.includes(id), id);
  for (const { name, model } of aliases) assert(text.includes(name) && text.includes(model), name);
  assert(aliases.length > 0 && text.includes("demo"));
});

await scenario("every setting is shown with its value and where it comes from", {}, async (visit) => {
  await visit.view("Settings");
  const { settings } = await json("/v1/proxy/settings");
  const rows = visit.page.locator("[data-setting]");
  await rows.nth(settings.length - 1).waitFor();
  assert.equal(await rows.count(), settings.length);
  for (const { name, value, is_default, source } of settings) {
    const text = await visit.page.locator(`[data-setting="${name}"]`).innerText();
    assert(text.startsWith(name) && text.includes(value ?? ""), `${name}: ${value} in ${text}`);
    assert(text.includes(source), `${name}: ${source} in ${text}`);
    const tags = await visit.page.locator(`[data-setting="${name}"] .tag`).allTextContents();
    assert.equal(tags.includes("changed"), !is_default, `${name}: ${tags}`);
  }
  const changed = settings.filter((setting) => !setting.is_default).map((setting) => setting.name);
  assert(changed.includes("PROXY_API_KEY"), `${changed}`);

  await visit.page.getByRole("searchbox").fill("log_format");
  await visit.page.locator('[data-setting="PROXY_API_KEY"]').waitFor({ state: "detached" });
  await visit.page.locator(`[data-setting="PROXY_LOG_FORMAT"]`).waitFor();
});

await scenario("the clients' settings have this server's address, and no key", {}, async (visit) => {
  await visit.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  await visit.view("Clients");
  const main = visit.page.locator("main");
  await visit.until(main, `${origin}/v1`);
  for (const client of [
    "Obsidian",
    "Python",
    "Node",
    "LangChain",
    "AI SDK",
    "Open WebUI",
    "Codex CLI",
    "Copilot CLI",
    "Cline",
    "opencode",
    "Continue",
    "Zed",
    "LiteLLM",
    "curl",
  ]) {
    await main
      .getByRole("heading", { name: new RegExp(client) })
      .first()
      .waitFor();
  }
  assert(!(await main.innerText()).includes(key));
  await visit.until(main, "Tested with @openai/codex 0.166.0.");
  await main.getByRole("button", { name: /^Copy/ }).first().click();
  await visit.page.waitForFunction(() => navigator.clipboard.readText());
});

await scenario("a child whose calls are sent whole is shown with the reason", {}, async (visit) => {
  const codex = visit.test("codex");
  await visit.until(codex, "Ready");
  for (const [state, words] of [
    [{ early_arguments: "lost", early_arguments_lost: "no `fragments`" }, "Tool calls are sent whole: no `fragments`"],
    [{ early_arguments: "off" }, "Tool calls are sent whole: PROXY_STREAM_ARGUMENTS is off"],
  ]) {
    await visit.page.addInitScript(replaceInEvents, JSON.stringify(state).slice(1, -1));
    await visit.page.reload();
    await visit.until(codex, words);
  }
});

/** In the page: the server's events say something else about how the arguments of calls are sent. */
function replaceInEvents(state) {
  const ask = window.asked ?? window.fetch;
  window.asked = ask;
  window.fetch = async (path, options) => {
    const answer = await ask(path, options);
    if (!String(path).endsWith("/v1/proxy/events")) return answer;
    const replaced = new TransformStream({
      transform(text, out) {
        out.enqueue(text.replace(/"early_arguments":"[a-z]+"/g, state));
      },
    });
    const events = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(replaced);
    return new Response(events.pipeThrough(new TextEncoderStream()), answer);
  };
}

await scenario("an address of no view shows the overview", {}, async (visit) => {
  for (const place of ["constructor", "__proto__", "nowhere"]) {
    await visit.view("Models");
    await visit.page.goto(`${origin}/#/${place}`);
    await visit.page.getByRole("heading", { name: "Overview", exact: true, level: 1 }).waitFor();
  }
});

await finish();
