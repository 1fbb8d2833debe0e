// The agents SDK, which runs the tools by itself: whole answers and streamed ones.

import assert from "node:assert/strict";

import { Agent, OpenAIResponsesModel, run as ask, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

import { API_KEY, BASE_URL, MODEL, NAMES } from "../checks.mjs";
import { run } from "../responses/checks.mjs";

// It would go to OpenAI.
setTracingDisabled(true);

const client = (apiKey) => new OpenAI({ baseURL: BASE_URL, apiKey, maxRetries: 0, timeout: 30_000 });

const agent = (more = {}, model = MODEL, key = API_KEY) =>
  new Agent({
    name: "Secretary",
    instructions: "Be short.",
    model: new OpenAIResponsesModel(client(key), model),
    ...more,
  });

const tools = (execute) =>
  NAMES.map((name) =>
    tool({
      name,
      description: `Runs ${name}`,
      parameters: z.object({ city: z.string(), mark: z.string() }),
      execute: (args) => execute(name, args),
    }),
  );

const whole = {
  title: "run",
  streams: false,
  asked: (...request) => ask(...request),
};

const streamed = {
  title: "run with stream",
  streams: true,
  async asked(agent, input, options) {
    const result = await ask(agent, input, { ...options, stream: true });
    let text = "";
    for await (const event of result) {
      if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") {
        text += event.data.delta;
      }
    }
    await result.completed;
    if (typeof result.finalOutput === "string") {
      assert.equal(text, result.finalOutput, "the text of the events");
    }
    return result;
  },
};

const library = {
  recorded: true,
  finishes: { text: "completed" },
  async ask(input, { model, key }) {
    const result = await this.asked(agent({}, model, key), input);
    const [{ usage, output }] = result.rawResponses;
    return {
      text: result.finalOutput,
      calls: [],
      finish: output.at(-1).status,
      usage: {
        prompt: usage.inputTokens,
        cached: usage.inputTokensDetails[0].cached_tokens,
        completion: usage.outputTokens,
        reasoning: usage.outputTokensDetails[0].reasoning_tokens,
        total: usage.totalTokens,
      },
      messages: result.output,
    };
  },
  async runs(text, execute) {
    return (await this.asked(agent({ tools: tools(execute) }), text)).finalOutput;
  },
  async structured(text) {
    const outputType = z.object({ wanted: z.string() });
    return (await this.asked(agent({ outputType }), text)).finalOutput;
  },
  async follow(text, previousResponseId) {
    const result = await this.asked(agent(), text, { previousResponseId });
    return { text: result.finalOutput, id: result.lastResponseId };
  },
  user: (text) => ({ role: "user", content: text }),
  failure(error) {
    if (!(error instanceof OpenAI.APIError)) {
      throw error;
    }
    return { kind: error.constructor.name, status: error.status, code: error.code };
  },
  failures: {
    notFound: "NotFoundError",
    key: "AuthenticationError",
    badRequest: "BadRequestError",
    rateLimit: "RateLimitError",
    server: "InternalServerError",
    late: "APIError",
  },
};

await run([whole, streamed].map((way) => ({ ...library, ...way })));
