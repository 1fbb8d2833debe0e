// The official OpenAI library: whole answers, the plain iterator, and the `stream()` helper.

import assert from "node:assert/strict";

import OpenAI from "openai";

import { BASE_URL, TOOLS, run } from "./checks.mjs";

const completions = (key) =>
  new OpenAI({ baseURL: BASE_URL, apiKey: key, maxRetries: 0, timeout: 30_000 }).chat.completions;

const request = (messages, model) => ({ model, messages, tools: TOOLS });

const streamed = (messages, model) => ({
  ...request(messages, model),
  stream: true,
  stream_options: { include_usage: true },
});

const whole = {
  title: "create",
  streams: false,
  async ask(messages, { model, key }) {
    return fromCompletion(await completions(key).create(request(messages, model)), model);
  },
};

const iterated = {
  title: "create with stream",
  streams: true,
  async ask(messages, { model, key }) {
    return joined(await completions(key).create(streamed(messages, model)), model);
  },
};

const helper = {
  title: "the stream helper",
  streams: true,
  async ask(messages, { model, key }) {
    const stream = completions(key).stream(streamed(messages, model));
    let text = "";
    const calls = [];
    stream.on("content", (delta) => (text += delta));
    stream.on("tool_calls.function.arguments.done", (call) => {
      calls.push({ name: call.name, arguments: call.parsed_arguments });
    });
    const answer = fromCompletion(await stream.finalChatCompletion(), model);
    assert.equal(text, answer.text, "the text of the events");
    const expected = answer.calls.map((call) => ({ name: call.name, arguments: call.arguments }));
    assert.deepEqual(calls, expected, "the calls of the events");
    return answer;
  },
};

const library = {
  user: (text) => ({ role: "user", content: text }),
  result: (call, output) => ({ role: "tool", tool_call_id: call.id, content: output }),
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

function fromCompletion(completion, model) {
  assert.equal(completion.object, "chat.completion");
  assert.equal(completion.model, model);
  assert.match(completion.id, /^chatcmpl-/);
  assert.equal(completion.choices.length, 1);
  const { message, finish_reason, index } = completion.choices[0];
  assert.equal(index, 0);
  assert.equal(message.role, "assistant");
  const calls = (message.tool_calls ?? []).map(fromCall);
  return {
    text: message.content ?? "",
    calls,
    finish: finish_reason,
    usage: fromUsage(completion.usage),
    messages: [message],
  };
}

/** Puts the deltas together as the documentation of the API tells to. */
async function joined(chunks, model) {
  const message = { role: undefined, content: "", tool_calls: [] };
  const ids = new Set();
  let finish, usage;
  for await (const chunk of chunks) {
    assert.equal(chunk.object, "chat.completion.chunk");
    assert.equal(chunk.model, model);
    assert.equal(usage, undefined, "nothing comes after the usage");
    ids.add(chunk.id);
    usage = chunk.usage ?? undefined;
    for (const { delta, finish_reason } of chunk.choices) {
      assert.equal(finish, undefined, "nothing comes after the end");
      message.role ??= delta.role;
      message.content += delta.content ?? "";
      for (const { index, id, type, function: part } of delta.tool_calls ?? []) {
        const known = message.tool_calls[index];
        if (known) {
          known.function.arguments += part.arguments;
        } else {
          assert.equal(index, message.tool_calls.length);
          message.tool_calls.push({ id, type, function: { ...part } });
        }
      }
      finish = finish_reason ?? undefined;
    }
  }
  assert.equal(message.role, "assistant");
  assert.equal(ids.size, 1, "one id");
  const calls = message.tool_calls.map(fromCall);
  return { text: message.content, calls, finish, usage: fromUsage(usage), messages: [message] };
}

function fromCall({ id, type, function: { name, arguments: text } }) {
  assert.equal(type, "function");
  return { id, name, arguments: JSON.parse(text) };
}

function fromUsage(usage) {
  return {
    prompt: usage.prompt_tokens,
    cached: usage.prompt_tokens_details.cached_tokens,
    completion: usage.completion_tokens,
    reasoning: usage.completion_tokens_details.reasoning_tokens,
    total: usage.total_tokens,
  };
}

await run([whole, iterated, helper].map((way) => ({ ...library, ...way })));
