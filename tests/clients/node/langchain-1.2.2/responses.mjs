import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

import { langchain } from "../responses/langchain.mjs";

await langchain({ ChatOpenAI, HumanMessage, ToolMessage });
