// Vercel's AI SDK: whole answers and streamed ones, through its provider for OpenAI and the one
// for servers that are compatible with it.

import assert from "node:assert/strict";

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";

import { consumed, fromResult, library } from "./ai-sdk-library.mjs";
import { API_KEY, BASE_URL, MODEL, TOOLS, check, run } from "./checks.mjs";

const providers = {
  "@ai-sdk/openai": (model, apiKey) => createOpenAI({ baseURL: BASE_URL, apiKey }).chat(model),
  "@ai-sdk/openai-compatible": (model, apiKey) =>
    createOpenAICompatible({ name: "ours", baseURL: BASE_URL, apiKey, includeUsage: true })(model),
};

/** The tools in the library's form; without `execute`, calls are left to us. */
const tools = (execute) =>
  Object.fromEntries(
    TOOLS.map(({ function: { name, description, parameters } }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters), execute }),
    ]),
  );

const ways = Object.entries(providers).flatMap(([provider, chat]) => [
  {
    title: `${provider}, generateText`,
    streams: false,
    async ask(messages, { model, key }) {
      const request = { model: chat(model, key), messages, tools: tools(), maxRetries: 0 };
      const result = await generateText(request);
      return fromResult(result, result.rawFinishReason);
    },
  },
  {
    title: `${provider}, streamText`,
    streams: true,
    async ask(messages, { model, key }) {
      const request = { model: chat(model, key), messages, tools: tools(), maxRetries: 0 };
      const result = await consumed(request);
      return fromResult(result, result.rawFinishReason);
    },
  },
]);

await run(ways.map((way) => ({ ...library, ...way })));

for (const [provider, chat] of Object.entries(providers)) {
  for (const [name, generate] of Object.entries({ generateText, streamText: consumed })) {
    await check(`${provider}, ${name}: the library runs three tools by itself`, async () => {
      const result = await generate({
        model: chat(MODEL, API_KEY),
        prompt: "[[round-trip:3]]",
        tools: tools(async ({ city }) => `21 °C in ${city}`),
        stopWhen: stepCountIs(2),
        maxRetries: 0,
      });
      const lines = TOOLS.map((declared, at) => `${declared.function.name}: 21 °C in C${at}`);
      assert.equal(result.text, lines.join("\n"));
      assert.deepEqual(
        result.steps.map((step) => step.finishReason),
        ["tool-calls", "stop"],
      );
    });
  }
}
