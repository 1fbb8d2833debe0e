// The core of that time adds up the `index` of a call's frames, so that it mixes up the arguments of
// three calls unless each of them comes in one frame; OpenAI's own streams have the same effect. Obsidian
// Copilot, which ships it, puts calls together itself, by the index of each chunk.

import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

import { MERGED, langchain } from "../langchain.mjs";
import { verify } from "../verify.mjs";

const BY_INDEX = {
  title: "stream, calls by their index",
  put_together(chunks) {
    const calls = new Map();
    for (const { index, id, name, args } of chunks.flatMap((chunk) => chunk.tool_call_chunks ?? [])) {
      const call = calls.get(index) ?? { id: undefined, name: "", args: "" };
      calls.set(index, {
        id: id ?? call.id,
        name: call.name + (name ?? ""),
        args: call.args + (args ?? ""),
      });
    }
    const whole = MERGED.put_together(chunks);
    const { usage_metadata, response_metadata } = whole;
    const tool_calls = [...calls.values()].map((call) => ({ ...call, args: JSON.parse(call.args) }));
    return new AIMessage({ content: whole.content, tool_calls, usage_metadata, response_metadata });
  },
};

const WHOLE = {
  ...MERGED,
  title: "stream of whole calls",
  headers: { "x-proxy-stream-arguments": "off" },
};

await langchain({ ChatOpenAI, HumanMessage, ToolMessage }, [BY_INDEX, WHOLE]);
await verify({ ChatOpenAI });
