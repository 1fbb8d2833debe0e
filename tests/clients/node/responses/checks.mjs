// What every client of `/v1/responses` must make of the scripted model's answers. A recorder stands
// between it and the server, and takes orders: where to write what is said, and to restart the
// server.

import assert from "node:assert/strict";

import { NAMES, TEXT, ask, check, earlyErrors, failureOf, lateError, roundTrip, textTurn } from "../checks.mjs";

export const FINISHES = { text: "completed", calls: "completed" };

/** Runs a check, and keeps what is said in the transcript of that name. */
export async function recorded(transcript, title, body) {
  await order(`record/${transcript}`);
  await check(title, body);
  await order("pause");
}

/**
 * Runs every check in every way. To what it is in chat, a way adds
 * - `recorded`: whether its transcripts are kept; of ways that say the same, one is enough
 * - `structured(text)`: asks for an object `{ wanted: string }`, and gives it
 * - `follow(text, previous)`: asks after the response with the id `previous`, or as the first turn,
 *   and gives `{ text, id }`
 * - `runs(text, execute)`, in the place of `result`: see `runsTools`
 */
export async function run(ways) {
  for (const way of ways) {
    const trip = way.runs ? runsTools : roundTrip;
    const each = [
      ["text", "a text", textTurn],
      ["history", "what was said goes back", history],
      ["one-call", "a call and back", (way) => trip(way, 1)],
      ["three-calls", "three calls and back", (way) => trip(way, 3)],
      ["structured", "an object of a schema", structured],
      ["three-turns", "three turns and a restart", threeTurns],
      ["early-errors", "errors before the answer", earlyErrors],
      ["late-error", "an error within the answer", lateError],
    ];
    for (const [transcript, what, body] of each) {
      const title = `${way.title}: ${what}`;
      if (way.recorded) {
        await recorded(transcript, title, () => body(way));
      } else {
        await check(title, () => body(way));
      }
    }
  }
}

/** The client keeps the conversation, with reasoning in it, and sends it again. */
export async function history(way) {
  const messages = [way.user("first [[reasoning]]")];
  const first = await ask(way, messages);
  assert.equal(first.text, "Answer after reasoning.");
  const second = await ask(way, [...messages, ...first.messages, way.user("second [[recall]]")]);
  const said = ["user: first [[reasoning]]", `assistant: ${first.text}`, "user: second [[recall]]"];
  assert.equal(second.text, said.join("\n"));
}

/** The model tells the schema that it was given. */
async function structured(way) {
  const answer = await way.structured("[[schema]]");
  assert.deepEqual(Object.keys(answer), ["wanted"]);
  const { type, properties, required, additionalProperties } = JSON.parse(answer.wanted);
  assert.deepEqual(
    { type, names: Object.keys(properties), wanted: properties.wanted.type },
    { type: "object", names: ["wanted"], wanted: "string" },
  );
  assert.deepEqual([required, additionalProperties], [["wanted"], false]);
}

/**
 * For libraries that run the tools by themselves. `way.runs(text, execute)` gives the last text;
 * `execute(name, args)` is what the tools do.
 */
async function runsTools(way, count) {
  const calls = [];
  const text = await way.runs(`${TEXT} [[round-trip:${count}]]`, (name, args) => {
    calls.push({ name, arguments: args });
    return `21 °C in ${args.city}`;
  });
  const names = NAMES.slice(0, count);
  assert.deepEqual(
    calls,
    names.map((name, at) => ({ name, arguments: { city: `C${at}`, mark: TEXT } })),
  );
  assert.equal(text, names.map((name, at) => `${name}: 21 °C in C${at}`).join("\n"));
}

/** The server remembers, also over its own end. */
async function threeTurns(way) {
  const first = await way.follow("first [[text:one]]");
  assert.equal(first.text, "one");
  await order("restart");
  const second = await way.follow("second [[text:two]]", first.id);
  assert.equal(second.text, "two");
  const third = await way.follow("third [[recall]]", second.id);
  assert.equal(third.text, RECALLED);
  const ask = () => way.follow("hello", "resp_nobody");
  const { status, code } = await failureOf({ ...way, ask }, "resp_nobody");
  assert.deepEqual({ status, code }, { status: 400, code: "previous_response_not_found" });
}

const RECALLED = [
  "user: first [[text:one]]",
  "assistant: one",
  "user: second [[text:two]]",
  "assistant: two",
  "user: third [[recall]]",
].join("\n");

/** Without a recorder the program asks a server of its caller's, and nothing is kept. */
async function order(what) {
  const { RECORDER } = process.env;
  if (RECORDER !== undefined) {
    const response = await fetch(`${RECORDER}/${what}`, { method: "POST" });
    assert.ok(response.ok, `${what}: ${response.status}`);
  }
}
