// Errors as the official OpenAI library shows them.

import OpenAI from "openai";

import { show } from "./errors.mjs";

await show("openai", ({ baseURL, key, model, messages, tools }) =>
  new OpenAI({ baseURL, apiKey: key, maxRetries: 0 }).chat.completions.create({ model, messages, tools }),
);
