// LangChain's ChatOpenAI as Obsidian Copilot asks models whose names begin with `gpt-5`: with
// `useResponsesApi`, from the page of an app. Each version has a folder of its own, whose program
// hands its modules over.

import assert from "node:assert/strict";

import { fetchFrom } from "../browser.mjs";
import { API_KEY, BASE_URL, MODEL } from "../checks.mjs";
import { FINISHES, recorded, run } from "./checks.mjs";

const ORIGIN = "app://obsidian.md";

const FORMAT = {
  type: "json_schema",
  json_schema: {
    name: "schema",
    strict: true,
    schema: {
      type: "object",
      properties: { wanted: { type: "string" } },
      required: ["wanted"],
      additionalProperties: false,
    },
  },
};

/** `concatenates`: whether the library puts the chunks of several calls together as they were. */
export async function langchain(library, { concatenates }) {
  const { AIMessage, ChatOpenAI, HumanMessage, ToolMessage } = library;
  const chat = (model, apiKey, more) =>
    new ChatOpenAI({
      model,
      apiKey,
      useResponsesApi: true,
      maxRetries: 0,
      timeout: 30_000,
      ...more,
      configuration: {
        baseURL: BASE_URL,
        dangerouslyAllowBrowser: true,
        defaultHeaders: { "dangerously-allow-browser": "true" },
        fetch: fetchFrom(ORIGIN),
      },
    });

  const invoked = {
    title: "invoke",
    recorded: true,
    streams: false,
    asked: (chain, messages, options) => chain.invoke(messages, options),
    structured(text) {
      const { schema, ...rest } = FORMAT.json_schema;
      return chat(MODEL, API_KEY)
        .withStructuredOutput(schema, { method: "jsonSchema", ...rest })
        .invoke(text);
    },
  };

  const structured = async (way, text) =>
    JSON.parse((await way.asked(chat(MODEL, API_KEY), text, { response_format: FORMAT })).text);

  const concatenated = {
    title: "stream",
    streams: true,
    async asked(chain, messages, options) {
      let whole;
      for await (const chunk of await chain.stream(messages, options)) {
        whole = whole === undefined ? chunk : whole.concat(chunk);
      }
      return whole;
    },
    structured: (text) => structured(concatenated, text),
  };

  // Obsidian Copilot puts the chunks together by itself, calls by their index.
  const collected = {
    title: "stream, as Obsidian Copilot reads it",
    recorded: true,
    streams: true,
    async asked(chain, messages, options) {
      let content = "";
      let usage_metadata;
      let response_metadata = {};
      const calls = new Map();
      for await (const chunk of await chain.stream(messages, options)) {
        content += chunk.text;
        usage_metadata = chunk.usage_metadata ?? usage_metadata;
        response_metadata = { ...response_metadata, ...chunk.response_metadata };
        for (const { index = 0, id, name, args } of chunk.tool_call_chunks ?? []) {
          const call = calls.get(index) ?? { id: undefined, name: "", args: "" };
          calls.set(index, {
            id: id ?? call.id,
            name: call.name + (name ?? ""),
            args: call.args + (args ?? ""),
          });
        }
      }
      const tool_calls = [...calls.values()].map((call) => ({
        ...call,
        args: JSON.parse(call.args),
        type: "tool_call",
      }));
      return new AIMessage({ content, tool_calls, usage_metadata, response_metadata });
    },
    structured: (text) => structured(collected, text),
  };

  const common = {
    finishes: FINISHES,
    async ask(messages, { model, key, tools }) {
      return fromMessage(await this.asked(chat(model, key).bindTools(tools), messages));
    },
    async follow(text, previous_response_id) {
      const message = await this.asked(chat(MODEL, API_KEY), text, { previous_response_id });
      return { text: message.text, id: message.response_metadata.id };
    },
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

  const ways = [invoked, ...(concatenates ? [concatenated] : []), collected];
  await run(ways.map((way) => ({ ...common, ...way })));

  await recorded("verify", "verify: a short answer to hello", async () => {
    const model = chat(MODEL, API_KEY, { streaming: false, maxTokens: 30 });
    const answer = await model.invoke([{ role: "user", content: "hello" }], { timeout: 8_000 });
    assert.notEqual(answer.text, "");
  });
}

function fromMessage(message) {
  assert.deepEqual(message.invalid_tool_calls ?? [], [], "calls that could not be read");
  const usage = message.usage_metadata;
  return {
    text: message.text,
    calls: message.tool_calls.map(({ id, name, args }) => ({ id, name, arguments: args })),
    finish: message.response_metadata.status,
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
