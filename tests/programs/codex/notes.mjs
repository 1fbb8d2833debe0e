// A small MCP server: one tool, on standard input and output.
import { createInterface } from "node:readline";

const tool = {
  name: "look_up",
  description: "Looks up a note.",
  inputSchema: {
    type: "object",
    properties: { topic: { type: "string" } },
    required: ["topic"],
  },
};

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "notes", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [tool] }),
  // In capitals, so that the answer cannot be the question.
  "tools/call": ({ arguments: { topic } }) => ({
    content: [{ type: "text", text: `NOTE ON ${topic.toUpperCase()}` }],
  }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
