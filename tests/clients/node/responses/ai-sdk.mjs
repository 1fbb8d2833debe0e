// Vercel's AI SDK with its default provider, which asks `/v1/responses`: whole answers and streamed
// ones, with what the server keeps and without.

import assert from "node:assert/strict";

import { createOpenAI } from "@ai-sdk/openai";
import { Output, generateText, jsonSchema, stepCountIs, tool } from "ai";
import { z } from "zod";

import { consumed, fromResult, library as common } from "../ai-sdk-library.mjs";
import { API_KEY, BASE_URL, MODEL, TOOLS } from "../checks.mjs";
import { history, recorded, run } from "./checks.mjs";

const STATELESS = { store: false, include: ["reasoning.encrypted_content"] };

const asking = (model = MODEL, apiKey = API_KEY, openai = {}) => ({
  model: createOpenAI({ baseURL: BASE_URL, apiKey })(model),
  maxRetries: 0,
  providerOptions: { openai },
});

/** The tools in the library's form; without `execute`, calls are left to us. */
const executed = (tools, execute) =>
  Object.fromEntries(
    tools.map(({ function: { name, description, strict, parameters } }) => [
      name,
      tool({ description, strict, inputSchema: jsonSchema(parameters), execute }),
    ]),
  );

const ways = Object.entries({ generateText, streamText: consumed }).map(([name, generate]) => ({
  title: name,
  recorded: true,
  streams: generate === consumed,
  generate,
}));

const library = {
  ...common,
  finishes: { text: "stop", calls: "tool-calls" },
  async ask(messages, { model, key, tools }) {
    const request = { ...asking(model, key, this.options), messages, tools: executed(tools) };
    const result = await this.generate(request);
    return fromResult(result, result.finishReason);
  },
  async structured(prompt) {
    const output = Output.object({ schema: z.object({ wanted: z.string() }) });
    return (await this.generate({ ...asking(), prompt, output })).output;
  },
  async follow(prompt, previousResponseId) {
    const options = previousResponseId === undefined ? {} : { previousResponseId };
    const result = await this.generate({ ...asking(MODEL, API_KEY, options), prompt });
    return { text: result.text, id: result.providerMetadata.openai.responseId };
  },
};

await run(ways.map((way) => ({ ...library, ...way })));

for (const way of ways) {
  const { title, generate } = way;
  await recorded("history-stateless", `${title}: what was not kept goes back`, () =>
    history({ ...library, ...way, options: STATELESS }),
  );
  for (const [kept, options] of Object.entries({ stored: {}, stateless: STATELESS })) {
    const what = `${title}: the library runs three tools by itself, ${kept}`;
    await recorded(`loop-${kept}`, what, async () => {
      const result = await generate({
        ...asking(MODEL, API_KEY, options),
        prompt: "[[round-trip:3]]",
        tools: executed(TOOLS, async ({ city }) => `21 °C in ${city}`),
        stopWhen: stepCountIs(2),
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
