// Vercel's AI SDK with its default provider, which asks `/v1/responses`: whole answers and streamed
// ones, with what the server keeps and without.

import assert from "node:assert/strict";

import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, Output, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

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
  finishes: { text: "stop", calls: "tool-calls" },
  async ask(messages, { model, key, tools }) {
    const request = { ...asking(model, key, this.options), messages, tools: executed(tools) };
    return fromResult(await this.generate(request));
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
  user: (text) => ({ role: "user", content: text }),
  result: (call, output) => ({
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: call.id,
        toolName: call.name,
        output: { type: "text", value: output },
      },
    ],
  }),
  failure(error) {
    if (!APICallError.isInstance(error)) {
      return { kind: error.constructor.name, status: undefined, code: error.code };
    }
    const { error: told } = JSON.parse(error.responseBody);
    return { kind: error.name, status: error.statusCode, code: told.code };
  },
  failures: {
    notFound: "AI_APICallError",
    key: "AI_APICallError",
    badRequest: "AI_APICallError",
    rateLimit: "AI_APICallError",
    server: "AI_APICallError",
    // What the event said, as it is.
    late: "Object",
  },
};

/** Reads a stream to its end. The library reports an error as a part of it, and goes on. */
async function consumed(request) {
  const errors = [];
  const result = streamText({ ...request, onError: ({ error }) => errors.push(error) });
  await result.consumeStream({ onError: () => {} });
  if (errors.length > 0) {
    assert.equal(errors.length, 1, "it is told once");
    throw errors[0];
  }
  return {
    text: await result.text,
    toolCalls: await result.toolCalls,
    finishReason: await result.finishReason,
    rawFinishReason: await result.rawFinishReason,
    usage: await result.usage,
    response: await result.response,
    steps: await result.steps,
    providerMetadata: await result.providerMetadata,
    output: request.output && (await result.output),
  };
}

function fromResult(result) {
  const { usage } = result;
  return {
    text: result.text,
    calls: result.toolCalls.map((call) => ({
      id: call.toolCallId,
      name: call.toolName,
      arguments: call.input,
    })),
    finish: result.finishReason,
    usage: {
      prompt: usage.inputTokens,
      cached: usage.inputTokenDetails.cacheReadTokens,
      completion: usage.outputTokens,
      reasoning: usage.outputTokenDetails.reasoningTokens,
      total: usage.totalTokens,
    },
    messages: result.response.messages,
  };
}

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
