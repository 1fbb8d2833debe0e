// LangChain's ChatOpenAI: whole answers and streamed ones, with bound tools. Each version has a
// folder of its own, whose program hands its modules over.

import assert from "node:assert/strict";

import { BASE_URL, TOOLS, run } from "./checks.mjs";

// As LangChain merges the chunks of a stream itself.
export const MERGED = {
  title: "stream",
  put_together: (chunks) => chunks.reduce((whole, chunk) => whole.concat(chunk)),
};

export async function langchain({ ChatOpenAI, HumanMessage, ToolMessage }, streams = [MERGED]) {
  const chat = (model, apiKey, defaultHeaders) =>
    new ChatOpenAI({
      model,
      apiKey,
      maxRetries: 0,
      timeout: 30_000,
      configuration: { baseURL: BASE_URL, defaultHeaders },
    }).bindTools(TOOLS);

  const invoked = {
    title: "invoke",
    streams: false,
    async ask(messages, { model, key }) {
      return fromMessage(await chat(model, key).invoke(messages));
    },
  };

  const streamed = ({ title, headers, put_together }) => ({
    title,
    streams: true,
    async ask(messages, { model, key }) {
      const chunks = [];
      for await (const chunk of await chat(model, key, headers).stream(messages)) {
        chunks.push(chunk);
      }
      return fromMessage(put_together(chunks));
    },
  });

  const library = {
    user: (text) => new HumanMessage(text),
    result: (call, output) => new ToolMessage({ content: output, tool_call_id: call.id, name: call.name }),
    failure: (error) => ({
      kind: error.constructor.name,
      status: error.status,
      code: error.code,
    }),
    failures: {
      notFound: "NotFoundError",
      key: "AuthenticationError",
      badRequest: "BadRequestError",
      rateLimit: "RateLimitError",
      server: "InternalServerError",
      late: "APIError",
    },
  };

  await run([invoked, ...streams.map(streamed)].map((way) => ({ ...library, ...way })));
}

function fromMessage(message) {
  assert.deepEqual(message.invalid_tool_calls ?? [], [], "calls that could not be read");
  const usage = message.usage_metadata;
  return {
    text: message.text,
    calls: message.tool_calls.map(({ id, name, args }) => ({ id, name, arguments: args })),
    finish: message.response_metadata.finish_reason,
    usage: {
      prompt: usage.input_tokens,
      cached: usage.input_token_details.cache_read,
      completion: usage.output_tokens,
      reasoning: usage.output_token_details.reasoning,
      total: usage.total_tokens,
    },
    messages: [message],
  };
}
