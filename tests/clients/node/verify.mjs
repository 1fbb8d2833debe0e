// How Obsidian Copilot verifies a model, from the page that it runs in.

import assert from "node:assert/strict";

import { API_KEY, BASE_URL, MODEL, check } from "./checks.mjs";
import { fetchFrom } from "./browser.mjs";

const ORIGIN = "app://obsidian.md";
const LIMIT_MS = 8_000;

export async function verify({ ChatOpenAI }) {
  await check("verify: a short answer to hello", async () => {
    const asked = new Set();
    const model = new ChatOpenAI({
      model: MODEL,
      apiKey: API_KEY,
      streaming: false,
      maxTokens: 30,
      maxRetries: 0,
      configuration: {
        baseURL: BASE_URL,
        dangerouslyAllowBrowser: true,
        defaultHeaders: { "dangerously-allow-browser": "true" },
        fetch: fetchFrom(ORIGIN, asked),
      },
    });
    const answer = await model.invoke([{ role: "user", content: "hello" }], { timeout: LIMIT_MS });
    assert.notEqual(answer.text, "");
    for (const name of ["authorization", "content-type", "dangerously-allow-browser"]) {
      assert.ok(asked.has(name), `${name} was asked for`);
    }
    assert.ok(
      [...asked].some((name) => name.startsWith("x-stainless-")),
      "as were x-stainless-*",
    );
  });

  await check("verify: the list of models", async () => {
    const response = await fetchFrom(ORIGIN)(`${BASE_URL}/models`, {
      headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    assert.equal(response.status, 200);
    const { data } = await response.json();
    assert.ok(
      data.some((model) => model.id === MODEL),
      JSON.stringify(data),
    );
  });

  await check("verify: a wrong key can be read from the page", async () => {
    const response = await fetchFrom(ORIGIN)(`${BASE_URL}/models`, {
      headers: { authorization: "Bearer wrong" },
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    assert.equal(response.status, 401);
    assert.equal((await response.json()).error.code, "invalid_api_key");
  });
}
