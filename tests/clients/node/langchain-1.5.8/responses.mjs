import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

import { langchain } from "../responses/langchain.mjs";

await langchain({ AIMessage, ChatOpenAI, HumanMessage, ToolMessage }, { concatenates: true });
