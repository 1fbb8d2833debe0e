// What every client must make of the scripted model's answers, whatever way it asks.

import assert from "node:assert/strict";

export const { BASE_URL, API_KEY, MODEL = "demo" } = process.env;

// More than one byte a character, quotes, and repetitions that a careless joint would lose.
export const TEXT = 'Grüße, 世界 🎻: "ha ha ha" }} 11';

// What the scripted model says that every answer cost.
const USAGE = { prompt: 123, cached: 100, completion: 45, reasoning: 7, total: 168 };

const LONGEST_ID = 40;

export const NAMES = ["get_weather", "get_time", "lookup"];
export const TOOLS = NAMES.map((name) => ({
  type: "function",
  function: {
    name,
    description: `Runs ${name}`,
    strict: true,
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, mark: { type: "string" } },
      required: ["city", "mark"],
      additionalProperties: false,
    },
  },
}));

const CHAT_FINISHES = { text: "stop", calls: "tool_calls" };

/** Runs one check, prints a line about it, and ends the program if it fails. */
export async function check(title, body) {
  try {
    await body();
  } catch (error) {
    console.error(`FAILED ${title}:`, error);
    process.exit(1);
  }
  console.log(`ok ${title}`);
}

/**
 * Runs every check in every way. A way to ask with a library (whole, streamed, or with one of its
 * helpers) is an object of
 * - `title`
 * - `streams`: whether the status of the answer goes out before its end
 * - `ask(messages, { model, key, tools })`: gives `{ text, calls: [{ id, name, arguments }],
 *   finish, usage, messages }`, the last being the answer as the library wants it back; `tools` are
 *   those that may be called, and to declare them always is no fault
 * - `user(text)` and `result(call, output)`: messages of the library
 * - `failure(error)`: gives `{ kind, status, code }` of an error of the library
 * - `failures`: the kinds of errors by their names here
 * - `finishes`: what `finish` is behind a text and behind calls, unless it is as in chat
 */
export async function run(ways) {
  for (const way of ways) {
    await check(`${way.title}: a text`, () => textTurn(way));
    for (const count of [1, 3]) {
      await check(`${way.title}: ${count} call(s) and back`, () => roundTrip(way, count));
    }
    await check(`${way.title}: errors before the answer`, () => earlyErrors(way));
    await check(`${way.title}: an error within the answer`, () => lateError(way));
  }
}

export async function textTurn(way) {
  expectText(way, await ask(way, [way.user(`${TEXT}[[echo]]`)]), TEXT);
}

export async function roundTrip(way, count) {
  const messages = [way.user(`${TEXT} [[round-trip:${count}]]`)];
  const first = await ask(way, messages, { tools: TOOLS });
  const calls = first.calls.map((call) => ({ name: call.name, arguments: call.arguments }));
  const expected = NAMES.slice(0, count).map((name, at) => ({
    name,
    arguments: { city: `C${at}`, mark: TEXT },
  }));
  assert.deepEqual(calls, expected);
  assert.equal(first.text, "", "text beside calls");
  assert.equal(first.finish, (way.finishes ?? CHAT_FINISHES).calls);
  assert.deepEqual(first.usage, USAGE);
  const ids = first.calls.map((call) => call.id);
  assert.equal(new Set(ids).size, count, `the ids differ: ${ids}`);
  assert.deepEqual(
    ids.filter((id) => !id || id.length > LONGEST_ID),
    [],
    "bad ids",
  );

  const outputs = first.calls.map((call) => `21 °C in ${call.arguments.city}`);
  const results = first.calls.map((call, at) => way.result(call, outputs[at]));
  const history = [...messages, ...first.messages, ...results];
  const second = await ask(way, history, { tools: TOOLS });
  expectText(way, second, outputs.map((output, at) => `${NAMES[at]}: ${output}`).join("\n"));
}

function expectText(way, answer, text) {
  const { messages: _, ...rest } = answer;
  const finish = (way.finishes ?? CHAT_FINISHES).text;
  assert.deepEqual(rest, { text, calls: [], finish, usage: USAGE });
}

export async function earlyErrors(way) {
  const hello = [way.user("hello")];
  const { notFound, key, badRequest, rateLimit, server } = way.failures;
  const refusals = [
    ["no-such-model", hello, { model: "no-such-model" }, notFound, 404, "model_not_found"],
    ["API key", hello, { key: "wrong" }, key, 401, "invalid_api_key"],
    ["no more requests", [way.user("[[http:429]]")], {}, rateLimit, 429, "rate_limit_exceeded"],
    ["demand", [way.user("[[http:500]]")], {}, server, 502, "upstream_error"],
  ];
  if (way.result) {
    const orphan = way.result({ id: "call_nobody", name: "lookup", arguments: {} }, "42");
    refusals.push(["call_nobody", [...hello, orphan], {}, badRequest, 400, "invalid_value"]);
  }
  for (const [told, messages, options, kind, status, code] of refusals) {
    assert.deepEqual(await failureOf(way, told, messages, options), { kind, status, code });
  }
}

/** The model's connection ends in the middle of a text. */
export async function lateError(way) {
  const code = "stream_cut";
  // Nobody can take back the status of a stream that has begun.
  const expected = way.streams
    ? { kind: way.failures.late, status: undefined, code }
    : { kind: way.failures.server, status: 502, code };
  const cut = [way.user("[[slow-cut:500]]")];
  assert.deepEqual(await failureOf(way, "broke before the answer was complete", cut), expected);
}

/** What becomes of a request that fails; its message has `told` in it. */
export async function failureOf(way, told, messages, options) {
  let answer;
  try {
    answer = await ask(way, messages, options);
  } catch (error) {
    assert.ok(error.message.includes(told), `${told} is not in: ${error.message}`);
    return way.failure(error);
  }
  assert.fail(`an answer instead of an error: ${JSON.stringify(answer)}`);
}

export function ask(way, messages, { model = MODEL, key = API_KEY, tools = [] } = {}) {
  return way.ask(messages, { model, key, tools });
}
