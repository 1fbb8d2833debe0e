// The core of that time adds up the `index` of a call's chunks, so that it takes the third call for
// a part of the second. Obsidian Copilot does not let it.

import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

import { langchain } from "../responses/langchain.mjs";

await langchain({ AIMessage, ChatOpenAI, HumanMessage, ToolMessage }, { concatenates: false });
