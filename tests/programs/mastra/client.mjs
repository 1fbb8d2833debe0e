// Mastra: an agent with tools, streamed, with the AI SDK's providers for both endpoints; then structured output.
import fs from "node:fs";
import path from "node:path";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const { BASE_URL, API_KEY, MODEL, VARIANT, WORK } = process.env;
const settings = { baseURL: BASE_URL, apiKey: API_KEY };
const model =
  VARIANT === "chat"
    ? createOpenAICompatible({ name: "ours", ...settings })(MODEL)
    : createOpenAI(settings).responses(MODEL);

const inWork = (name) => path.join(WORK, name);
const tool = (id, inputSchema, run) =>
  createTool({
    id,
    description: `A tool: ${id}`,
    inputSchema: z.object(inputSchema),
    execute: async (input) => run(input),
  });
const tools = {
  write_file: tool("write_file", { path: z.string(), content: z.string() }, (input) => {
    fs.writeFileSync(inWork(input.path), input.content);
    return "written";
  }),
  read_file: tool("read_file", { path: z.string() }, (input) => fs.readFileSync(inWork(input.path), "utf8")),
  list_files: tool("list_files", { path: z.string() }, (input) => {
    const names = fs.readdirSync(inWork(input.path));
    return `${names.length} entry: ${names.join(", ")}`;
  }),
};

function expect(holds, message) {
  if (!holds) {
    console.error(`not as expected: ${message}`);
    process.exit(1);
  }
}

setTimeout(() => expect(false, "no end within 60 s"), 60_000).unref();
const agent = new Agent({
  id: "agent",
  name: "agent",
  instructions: "You are an agent that works in a folder.",
  model,
  tools,
});
const stream = await agent.stream("Write a file, then look at it. [[agent]]", { maxSteps: 6 });
const pieces = [];
for await (const piece of stream.textStream) pieces.push(piece);
const text = pieces.join("");
expect(pieces.length > 1, `the streamed pieces are ${JSON.stringify(pieces)}`);
expect(fs.readFileSync(inWork("agent.txt"), "utf8").trim() === "Written by the agent.", "the file has other content");
for (const part of ["The agent is done.", "Written by the agent.", "1 entry: agent.txt"]) {
  expect(text.includes(part), `the final text is ${JSON.stringify(text)}`);
}
console.log(text);

const writer = new Agent({ id: "writer", name: "writer", instructions: "You answer.", model });
const schema = z.object({ name: z.string(), inhabitants: z.number() });
const answer = await writer.generate('[[text:{"name": "Paris", "inhabitants": 2}]]', { structuredOutput: { schema } });
expect(
  answer.object?.name === "Paris" && answer.object?.inhabitants === 2,
  `the structured output is ${JSON.stringify(answer.object)}`,
);
process.exit(0);
