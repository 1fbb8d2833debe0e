// Errors as Obsidian Copilot shows them, which prints the message of what LangChain throws.

import { ChatOpenAI } from "@langchain/openai";

import { show } from "../errors.mjs";

await show("langchain", async ({ baseURL, key, model, messages, tools }) => {
  const chat = new ChatOpenAI({
    model,
    apiKey: key,
    maxRetries: 0,
    useResponsesApi: false,
    configuration: { baseURL },
  });
  for await (const _ of await chat.stream(messages, { tools })) {
    // Streamed, as Obsidian Copilot asks.
  }
});
