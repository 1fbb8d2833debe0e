import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

import { langchain } from "../langchain.mjs";
import { verify } from "../verify.mjs";

await langchain({ ChatOpenAI, HumanMessage, ToolMessage });
await verify({ ChatOpenAI });
