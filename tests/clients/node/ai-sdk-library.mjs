// What Vercel's AI SDK looks like to the checks, whichever endpoint it asks.

import assert from "node:assert/strict";

import { APICallError, streamText } from "ai";

/** Messages and errors of the library. */
export const library = {
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
    // What the frame or the event said, as it is.
    late: "Object",
  },
};

/** Reads a stream to its end. The library reports an error as a part of it, and goes on. */
export async function consumed(request) {
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

/** What every client gives; `finish` is what the library says of the end. */
export function fromResult(result, finish) {
  const { usage } = result;
  return {
    text: result.text,
    calls: result.toolCalls.map((call) => ({
      id: call.toolCallId,
      name: call.toolName,
      arguments: call.input,
    })),
    finish,
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
