// LangChain's ChatOpenAI as Obsidian Copilot asks models whose names begin with `gpt-5`: with
// `useResponsesApi`, from the page of an app. Each version has a folder of its own, whose program
// hands its modules over.

import assert from "node:assert/strict";

import { fetchFrom } from "../browser.mjs";
import { API_KEY, BASE_URL, MODEL, TOOLS } from "../checks.mjs";
import { FINISHES, recorded, run } from "./checks.mjs";

const ORIGIN = "app://obsidian.md";

const SCHEMA = {
  title: "schema",
  type: "object",
  properties: { wanted: { type: "string" } },
  required: ["wanted"],
  additionalProperties: false,
};

export async function langchain({ ChatOpenAI, HumanMessage, ToolMessage }) {
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
    streams: false,
    asked: (chain, messages, options) => chain.invoke(messages, options),
    structured: (text) => shaped().invoke(text),
  };

  const streamed = {
    title: "stream",
    streams: true,
    async asked(chain, messages, options) {
      let whole;
      for await (const chunk of await chain.stream(messages, options)) {
        whole = whole === undefined ? chunk : whole.concat(chunk);
      }
      return whole;
    },
    async structured(text) {
      let last;
      for await (const chunk of await shaped().stream(text)) {
        last = chunk;
      }
      return last;
    },
  };

  const shaped = () =>
    chat(MODEL, API_KEY).withStructuredOutput(SCHEMA, { method: "jsonSchema", strict: true });

  const library = {
    recorded: true,
    finishes: FINISHES,
    async ask(messages, { model, key }) {
      return fromMessage(await this.asked(chat(model, key).bindTools(TOOLS), messages));
    },
    async follow(text, previous_response_id) {
      const message = await this.asked(chat(MODEL, API_KEY), text, { previous_response_id });
      return { text: message.text, id: message.response_metadata.id };
    },
    user: (text) => new HumanMessage(text),
    result: (call, output) =>
      new ToolMessage({ content: output, tool_call_id: call.id, name: call.name }),
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

  await run([invoked, streamed].map((way) => ({ ...library, ...way })));

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
