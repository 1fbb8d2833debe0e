// The core of that time adds up the `index` of a call's frames, so that it mixes up the arguments of
// three calls unless each of them comes in one frame.

import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

import { langchain } from "../langchain.mjs";
import { verify } from "../verify.mjs";

await langchain({ ChatOpenAI, HumanMessage, ToolMessage });
await verify({ ChatOpenAI });
