// The playground with the model `demo`: calls answered by hand, a stop in mid-stream, errors, a command to copy.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { finish, json, key, launch, origin, request, scenario } from "./browser.mjs";

await launch();

/** The newest turn, once it has ended. */
async function lastTurn() {
  for (;;) {
    const [turn] = (await json("/v1/proxy/turns")).turns;
    if (turn?.state === "ended") return turn;
  }
}

async function playground(visit) {
  await visit.view("Playground");
  await visit.field("Model").selectOption("demo");
}

async function send(visit, message) {
  await visit.field("Message").fill(message);
  await visit.button("Send").click();
}

/** Waits until the child streams arguments: a moment after its start. */
async function streaming() {
  for (;;) {
    const [{ early_arguments: state }] = (await json("/healthz")).workers;
    if (state === "on") return;
    assert.equal(state, "checking");
  }
}

/** Records every text that the arguments of the calls have, from now on. */
async function recordArguments(visit) {
  await visit.page.evaluate(() => {
    window.recorded = [];
    const record = () => {
      const boxes = [...document.querySelectorAll('[data-testid="call-arguments"]')];
      window.recorded.push(boxes.map((box) => box.textContent));
    };
    const changes = { childList: true, characterData: true, subtree: true };
    new MutationObserver(record).observe(document.querySelector("main"), changes);
  });
}

const recordedArguments = (visit) => visit.page.evaluate(() => window.recorded);

/** What the model wrote, joined from the raw frames: an arguments text for each call. */
async function framedArguments(visit) {
  await visit.page.getByText("Raw frames").click();
  await visit.until(visit.test("raw-frames"), "[DONE]");
  const lines = await visit.test("raw-frames").locator("p").allTextContents();
  const joined = [];
  for (const line of lines) {
    const data = line.slice(line.indexOf("data: ") + 6);
    if (!line.includes("data: {")) continue;
    for (const call of JSON.parse(data).choices[0]?.delta.tool_calls ?? []) {
      joined[call.index] = (joined[call.index] ?? "") + call.function.arguments;
    }
  }
  return joined;
}

await scenario("two parallel calls are answered by hand, and the model goes on", {}, async (visit) => {
  await playground(visit);
  await visit.button("Send").click();
  const calls = visit.test("call");
  await calls.nth(1).waitFor();
  const names = await visit.test("call-name").allTextContents();
  assert.equal(new Set(names).size, 2, `${names}`);
  await visit.until(visit.test("answer-text"), "Let me use");
  await visit.test("call-arguments").nth(1).waitFor();
  const proceed = visit.button("Continue with these answers");
  await proceed.waitFor();
  for (const text of await visit.test("call-arguments").allTextContents()) JSON.parse(text);
  const first = await lastTurn();
  assert.deepEqual([first.tool_calls, first.tool_call_count], [names, 2]);

  await visit.field(`Answer to ${names[0]}`).fill("eleven degrees");
  await visit.field(`Answer to ${names[1]}`).fill("a quarter to nine");
  await proceed.click();
  for (const [name, answer] of [
    [names[0], "eleven degrees"],
    [names[1], "a quarter to nine"],
  ]) {
    await visit.until(visit.test("answer-text"), new RegExp(`${name}.* says: ${answer}`, "s"));
  }
  await lastTurn();
  const { turns } = await json("/v1/proxy/turns");
  assert.deepEqual(
    turns.map(({ model, endpoint, failed, tool_call_count }) => [model, endpoint, failed, tool_call_count]),
    [
      ["demo", "chat", false, 0],
      ["demo", "chat", false, 2],
    ],
  );

  // What was said stays, and the conversation goes on.
  assert.equal(await calls.count(), 2);
  await send(visit, "[[recall]]");
  await visit.until(visit.test("answer-text").last(), "eleven degrees");
  await visit.page.getByText("Raw frames").click();
  await visit.until(visit.test("raw-frames"), "chat.completion.chunk");
  await visit.until(visit.test("raw-frames"), "[DONE]");

  await visit.button("New conversation").click();
  await visit.test("call").first().waitFor({ state: "hidden" });
  assert.equal(await visit.test("answer-text").count(), 0);
});

await scenario("arguments grow while the model writes them", {}, async (visit) => {
  await playground(visit);
  await streaming();
  await recordArguments(visit);
  await send(visit, "[[slow-second-call:1500]]");
  await visit.until(visit.test("call").nth(1), "being written");
  await visit.until(visit.test("call").nth(0), "complete");
  await visit.button("Continue with these answers").waitFor();
  const whole = await framedArguments(visit);
  assert.equal(whole.length, 2);
  const recorded = await recordedArguments(visit);
  const parts = new Set(recorded.filter((texts) => texts.length === 2).map(([, second]) => second));
  const prefixes = [...parts].filter((text) => text !== "" && text !== whole[1] && whole[1].startsWith(text));
  assert(prefixes.length > 1, `${[...parts].join("\n")}\nof\n${whole[1]}`);
  // Nothing but the beginning of what the model wrote was ever there, and at last all of it.
  const shown = await visit.test("call-arguments").allTextContents();
  for (const texts of recorded) {
    for (const [index, text] of texts.entries()) {
      assert(whole[index].startsWith(text) || text === shown[index], `${text}\nof\n${whole[index]}`);
    }
  }
  assert.deepEqual(
    shown.map((text) => JSON.parse(text)),
    whole.map((text) => JSON.parse(text)),
  );
  assert.equal(await visit.test("call-arguments").and(visit.page.locator("[aria-busy]")).count(), 0);
});

await scenario("a call that was stopped while it was written is not complete", {}, async (visit) => {
  visit.tolerate(/^failed: net::ERR_ABORTED .*\/v1\/chat\/completions$/);
  await playground(visit);
  await send(visit, "[[slow-args:20000]]");
  await visit.until(visit.test("call-arguments"), /x/);
  await visit.until(visit.test("call"), "being written");
  await visit.button("Stop").click();
  await visit.until(visit.test("call"), "incomplete");
  assert.equal(await visit.button("Continue with these answers").count(), 0);
  const stopped = await lastTurn();
  assert.deepEqual([stopped.stop_reason, stopped.tool_call_count], ["client_gone", 0]);
});

await scenario("a refusal is shown in its own words, and stays in the conversation", {}, async (visit) => {
  await playground(visit);
  await send(visit, "[[refusal]]");
  await visit.until(visit.test("answer-refusal"), "I cannot");
  await visit.page.getByText(/^Refused ·/).waitFor();
  assert.equal(await visit.alert().count(), 0);
  await send(visit, "[[recall]]");
  await visit.until(visit.test("answer-text").last(), "assistant: I cannot");
});

await scenario("arguments are shown as they came, and a long answer whole", {}, async (visit) => {
  const line = "A line of a long answer, with words in it.\n";
  const given = '{"id":12345678901234567890,"price":1.10,"none":[],"of":{"a":"{,}"}}';
  const chunks = Array.from({ length: 5_000 }, () => ({ content: line }));
  chunks.push({ tool_calls: [{ index: 0, id: "call_1", function: { name: "buy", arguments: given } }] });
  const frames = chunks.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`);
  const body = `${frames.join("")}data: [DONE]\n\n`;
  await visit.page.route("**/v1/chat/completions", (route) =>
    route.fulfill({ contentType: "text/event-stream", body }),
  );
  await playground(visit);
  await visit.button("Send").click();
  await visit.button("Continue with these answers").waitFor();
  const shown = await visit.test("call-arguments").textContent();
  assert.equal(
    shown,
    '{\n  "id": 12345678901234567890,\n  "price": 1.10,\n  "none": [],\n  "of": {\n    "a": "{,}"\n  }\n}',
  );
  assert.equal(await visit.test("answer-text").textContent(), line.repeat(5_000));

  // Of the frames the last ones are kept, and they are shown to whoever opens them.
  assert.equal(await visit.test("raw-frames").locator("p").count(), 0);
  await visit.page.getByText("Raw frames").click();
  await visit.until(visit.test("raw-frames"), "[DONE]");
  assert.equal(await visit.test("raw-frames").locator("p").count(), 2_000);
});

await scenario("reasoning and text are shown as they come", {}, async (visit) => {
  await playground(visit);
  await send(visit, "[[reasoning]]");
  await visit.test("answer-text").waitFor();
  await visit.test("answer-reasoning").first().waitFor({ state: "attached" });
  assert((await visit.test("answer-reasoning").first().textContent()).trim().length > 0);
});

await scenario("a stop in mid-stream interrupts the turn", {}, async (visit) => {
  // The browser may tell it later than the server.
  visit.tolerate(/^failed: net::ERR_ABORTED .*\/v1\/chat\/completions$/);
  await playground(visit);
  await send(visit, "[[hang]]");
  await visit.until(visit.test("answer-text"), /\S/);
  const [running] = (await json("/v1/proxy/turns")).turns;
  assert.equal(running.state, "running");
  await visit.button("Stop").click();
  await visit.button("Send").waitFor();
  assert.equal(await visit.field("Message").evaluate((field) => field === document.activeElement), true);
  const stopped = await lastTurn();
  assert.deepEqual([stopped.id, stopped.stop_reason], [running.id, "client_gone"]);
});

await scenario("errors are shown as the server words them", {}, async (visit) => {
  await playground(visit);
  const tools = visit.field("Tools (JSON)");
  await tools.fill('[\n  {"type": "function",}\n]');
  await visit.page.getByText(/^Line 2, column 23/).waitFor();
  await visit.button("Send").click();
  assert.equal(await tools.getAttribute("aria-invalid"), "true");
  assert.equal(await tools.evaluate((field) => field === document.activeElement), true);
  assert.equal(await visit.alert().count(), 0);
  await visit.button("Copy as curl").click();
  await visit.button("Not copied").waitFor();

  visit.expect(/^console: .*400/);
  const named = { type: "function", function: { name: "x".repeat(600) } };
  await tools.fill(JSON.stringify([named]));
  await send(visit, "hello");
  const refused = await request("/v1/chat/completions", {
    method: "POST",
    body: { model: "demo", messages: [{ role: "user", content: "hello" }], tools: [named] },
  });
  const { error } = await refused.json();
  await visit.until(visit.alert(), error.message);
  await visit.until(visit.alert(), "400");

  visit.expect(/^console: .*401/);
  await tools.fill("[]");
  await visit.field("Model").selectOption("gpt-5.5");
  await send(visit, "hello");
  await visit.until(visit.alert().last(), /sign/i);
  await visit.until(visit.alert().last(), "401");
});

await scenario("the copied command works in a shell", {}, async (visit) => {
  await visit.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  await playground(visit);
  await visit.field("Message").fill('It\'s "quoted", $HOME and `ticks`: what is the weather?');
  await visit.button("Copy as curl").click();
  const command = await visit.clipboard();
  assert(!command.includes(key), command);
  const said = execFileSync("sh", ["-c", command], {
    env: { PATH: process.env.PATH, KEY: key },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  assert(said.includes("chat.completion"), `${command}\n${said}`);
  assert(said.includes("get_weather"), said);
});

await finish();
