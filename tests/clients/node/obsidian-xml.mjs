// A session of Obsidian Copilot 3.0 and 3.1, which declares no tools: the model writes its calls
// into the text, and their results come back as a message of the user.

import assert from "node:assert/strict";

import OpenAI from "openai";

import { API_KEY, BASE_URL, MODEL, check } from "./checks.mjs";

const SYSTEM = `You can search the notes. Write a call like this:

<use_tool>
<name>localSearch</name>
<query>what to look for</query>
<salientTerms>["words", "of", "the", "query"]</salientTerms>
</use_tool>`;

const PREAMBLE = "Let me look that up in your notes.\n\n";
const BLOCK = `<use_tool>
<name>localSearch</name>
<query>piano lessons</query>
<salientTerms>["piano", "lessons"]</salientTerms>
</use_tool>`;

// Nothing in it may be read as markup, or be written in another way.
const RESULT = `<localSearch>
<document title="Für Elise &amp; others" path="Musik/Ü.md">}} "ha ha" 🎻 <b>1 < 2</b></document>
</localSearch>`;

const { completions } = new OpenAI({ baseURL: BASE_URL, apiKey: API_KEY, maxRetries: 0 }).chat;

const messages = [
  { role: "system", content: SYSTEM },
  { role: "user", content: "When are my piano lessons? [[use-tool]]" },
];

await check("a value with markup arrives as a string", async () => {
  const content = "Some <b>bold</b> text, 1 < 2, <br> and <item>1</item>";
  const call = { name: "writeToFile", arguments: JSON.stringify({ path: "a.md", content }) };
  const { contents, calls } = await frames([{ role: "user", content: `[[items:${JSON.stringify([call])}]]` }]);
  assert.deepEqual(parameters(contents.join("")), {
    name: "writeToFile",
    path: "a.md",
    content: "Some &lt;b>bold</b> text, 1 < 2, <br> and &lt;item>1</item>",
  });
  assert.deepEqual(
    calls.map((call) => JSON.parse(call.function.arguments)),
    [{ path: "a.md", content }],
  );
});

await check("the block arrives as the model wrote it, and as a call", async () => {
  const { contents, calls, finishes } = await frames(messages);
  assert.equal(contents.join(""), PREAMBLE + BLOCK);
  assert.ok(contents.includes(BLOCK), `the block comes in one frame: ${JSON.stringify(contents)}`);
  assert.deepEqual(
    calls.map(({ index, type, function: { name, arguments: text } }) => ({
      index,
      type,
      name,
      arguments: JSON.parse(text),
    })),
    [
      {
        index: 0,
        type: "function",
        name: "localSearch",
        arguments: { query: "piano lessons", salientTerms: ["piano", "lessons"] },
      },
    ],
  );
  assert.deepEqual(finishes, ["tool_calls"]);
  messages.push({ role: "assistant", content: contents.join("") });
});

await check("the result goes back as a message of the user, and text follows", async () => {
  messages.push({ role: "user", content: `${RESULT}[[echo]]` });
  const { contents, calls, finishes } = await frames(messages);
  assert.equal(contents.join(""), RESULT);
  assert.deepEqual(calls, []);
  assert.deepEqual(finishes, ["stop"]);
});

/** The parameters of a block as the plugin reads them: a value with elements is no string. */
function parameters(text) {
  const elements = (text) => [...text.matchAll(/<([^>]+)>([\s\S]*?)<\/\1>/g)];
  const value = (raw) => {
    const text = raw.trim();
    const found = elements(text);
    const items = found.filter(([, name]) => name === "item");
    if (items.length > 0) return items.map(([, , inner]) => value(inner));
    if (found.length > 0) {
      return Object.fromEntries(found.map(([, name, inner]) => [name, value(inner)]));
    }
    return text;
  };
  const [, inside] = text.match(/<use_tool>([\s\S]*?)(?:<\/use_tool>|$)/);
  return Object.fromEntries(elements(inside).map(([, name, raw]) => [name, value(raw)]));
}

/** The parts of a streamed answer, as they come. */
async function frames(messages) {
  const contents = [];
  const calls = [];
  const finishes = [];
  const stream = await completions.create({ model: MODEL, messages, stream: true });
  for await (const { choices } of stream) {
    for (const { delta, finish_reason } of choices) {
      assert.ok(!(delta.content && delta.tool_calls), "text and calls come apart");
      contents.push(...(delta.content ? [delta.content] : []));
      calls.push(...(delta.tool_calls ?? []));
      finishes.push(...(finish_reason ? [finish_reason] : []));
    }
  }
  return { contents, calls, finishes };
}
