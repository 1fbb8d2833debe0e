// The official OpenAI library: whole answers, the plain iterator, the `stream()` helper, and what
// is kept on the server.

import assert from "node:assert/strict";

import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

import { API_KEY, BASE_URL, MODEL } from "../checks.mjs";
import { FINISHES, recorded, run } from "./checks.mjs";

const responses = (key = API_KEY) =>
  new OpenAI({ baseURL: BASE_URL, apiKey: key, maxRetries: 0, timeout: 30_000 }).responses;

const format = zodTextFormat(z.object({ wanted: z.string() }), "schema");

const whole = {
  title: "create",
  recorded: true,
  streams: false,
  asked: (body, key) => responses(key).create(body),
  async structured(text) {
    const answer = await responses().parse({ model: MODEL, input: text, text: { format } });
    return answer.output_parsed;
  },
};

const iterated = {
  title: "create with stream",
  recorded: true,
  streams: true,
  asked: async (body, key) => joined(await responses(key).create({ ...body, stream: true })),
  structured: async (text) => JSON.parse((await iterated.asked(formatted(text))).output_text),
};

const helper = {
  title: "the stream helper",
  streams: true,
  async asked(body, key) {
    const stream = responses(key).stream(body);
    let text = "";
    stream.on("response.output_text.delta", ({ delta }) => (text += delta));
    const answer = await stream.finalResponse();
    assert.equal(text, answer.output_text, "the text of the events");
    return answer;
  },
  structured: async (text) => (await helper.asked(formatted(text))).output_parsed,
};

const formatted = (input) => ({ model: MODEL, input, text: { format } });

const library = {
  finishes: FINISHES,
  async ask(input, { model, key, tools }) {
    const flat = tools.map(({ type, function: declared }) => ({ type, ...declared }));
    return fromResponse(await this.asked({ model, input, tools: flat }, key), model);
  },
  async follow(input, previous_response_id) {
    const answer = await this.asked({ model: MODEL, input, previous_response_id });
    return { text: answer.output_text, id: answer.id };
  },
  user: (text) => ({ role: "user", content: text }),
  result: (call, output) => ({ type: "function_call_output", call_id: call.id, output }),
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

function fromResponse(response, model) {
  assert.equal(response.object, "response");
  assert.equal(response.model, model);
  assert.match(response.id, /^resp_/);
  assert.equal(response.error, null);
  const { usage } = response;
  return {
    text: response.output_text,
    calls: response.output.filter(({ type }) => type === "function_call").map(fromCall),
    finish: response.status,
    usage: {
      prompt: usage.input_tokens,
      cached: usage.input_tokens_details.cached_tokens,
      completion: usage.output_tokens,
      reasoning: usage.output_tokens_details.reasoning_tokens,
      total: usage.total_tokens,
    },
    messages: response.output,
  };
}

function fromCall({ call_id, name, arguments: text, status }) {
  assert.equal(status, "completed");
  return { id: call_id, name, arguments: JSON.parse(text) };
}

/** The response of the last event, after the events before have told the same. */
async function joined(events) {
  const output = [];
  let last;
  let expected = 0;
  for await (const event of events) {
    assert.equal(event.sequence_number, expected++, "events are counted");
    assert.notEqual(last?.type, "response.completed", "nothing comes after the end");
    last = event;
    const item = output[event.output_index];
    switch (event.type) {
      case "response.output_item.added":
        assert.equal(event.output_index, output.length);
        output.push({ ...event.item });
        break;
      case "response.content_part.added":
        assert.equal(event.content_index, item.content.length);
        item.content = [...item.content, { ...event.part }];
        break;
      case "response.output_text.delta":
        assert.equal(event.item_id, item.id);
        item.content[event.content_index].text += event.delta;
        break;
      case "response.function_call_arguments.delta":
        assert.equal(event.item_id, item.id);
        item.arguments += event.delta;
        break;
      case "response.reasoning_summary_part.added":
        assert.equal(event.summary_index, item.summary.length);
        item.summary = [...item.summary, { ...event.part }];
        break;
      case "response.reasoning_summary_text.delta":
        assert.equal(event.item_id, item.id);
        item.summary[event.summary_index].text += event.delta;
        break;
      case "response.output_item.done": {
        // Nothing tells these two before the end.
        const { status, encrypted_content } = event.item;
        const told = { ...item, status, encrypted_content };
        assert.deepEqual(told, { ...event.item, status, encrypted_content }, "what was told");
        output[event.output_index] = event.item;
        break;
      }
    }
  }
  assert.equal(last.type, "response.completed");
  assert.deepEqual(last.response.output, output, "the items of the stream");
  const texts = output.filter(({ type }) => type === "message").flatMap(({ content }) => content);
  return { ...last.response, output_text: texts.map(({ text }) => text).join("") };
}

await run([whole, iterated, helper].map((way) => ({ ...library, ...way })));

await recorded("stored", "what is stored can be read, listed and deleted", async () => {
  const input = "what was said [[text:an answer]]";
  const answer = await responses().create({ model: MODEL, input, metadata: { topic: "notes" } });

  const read = await responses().retrieve(answer.id);
  assert.deepEqual(
    { output: read.output, metadata: read.metadata, usage: read.usage, text: read.output_text },
    { output: answer.output, metadata: { topic: "notes" }, usage: answer.usage, text: "an answer" },
  );

  const items = [];
  for await (const item of responses().inputItems.list(answer.id)) {
    items.push(item);
  }
  assert.deepEqual(
    items.map(({ type, role, content }) => ({ type, role, content })),
    [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }],
  );

  // Only what still runs can be cancelled.
  await assert.rejects(responses().cancel(answer.id), OpenAI.BadRequestError);

  await responses().delete(answer.id);
  await assert.rejects(responses().retrieve(answer.id), OpenAI.NotFoundError);
  await assert.rejects(responses().inputItems.list(answer.id), OpenAI.NotFoundError);

  const secret = await responses().create({ model: MODEL, input: "[[text:gone]]", store: false });
  await assert.rejects(responses().retrieve(secret.id), OpenAI.NotFoundError);
});
