// Vercel's AI SDK: whole answers and streamed ones, through its provider for OpenAI and the one
// for servers that are compatible with it.

import assert from "node:assert/strict";

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";

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
      return fromResult(await generateText(request));
    },
  },
  {
    title: `${provider}, streamText`,
    streams: true,
    async ask(messages, { model, key }) {
      const request = { model: chat(model, key), messages, tools: tools(), maxRetries: 0 };
      return fromResult(await consumed(request));
    },
  },
]);

const library = {
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
    // The `error` of the frame as it is.
    late: "Object",
  },
};

/** Reads a stream to its end. The library reports an error as a part of it, and goes on. */
async function consumed(request) {
  const errors = [];
  const result = streamText({ ...request, onError: ({ error }) => errors.push(error) });
  await result.consumeStream({ onError: () => {} });
  if (errors.length > 0) {
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
    finish: result.rawFinishReason,
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
