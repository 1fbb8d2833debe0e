// The tools of the playground: a default that works, and what is wrong with what somebody writes.

const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather in a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

const TIME = {
  type: "function",
  function: {
    name: "get_time",
    description: "The local time in a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

/// Both fit the default question, so that two calls come at once.
export const DEFAULT_TOOLS = JSON.stringify([WEATHER, TIME], null, 2);

export const DEFAULT_MESSAGE = "What are the weather and the time in Paris?";

/// `{tools}`, or `{problem}`: what is wrong, and where. Nothing at all means no tools.
export function parseTools(text) {
  if (text.trim() === "") return { tools: [] };
  let tools;
  try {
    tools = JSON.parse(text);
  } catch (error) {
    return { problem: whereInText(error.message, text) };
  }
  const problem = shapeProblem(tools);
  return problem ? { problem } : { tools };
}

function shapeProblem(tools) {
  if (!Array.isArray(tools)) return "The tools must be a list: [ … ].";
  const names = new Set();
  for (const [index, tool] of tools.entries()) {
    const place = `[${index}]`;
    if (tool?.type !== "function") return `${place}.type must be "function".`;
    const name = tool.function?.name;
    if (typeof name !== "string" || name === "") return `${place}.function.name must be a name.`;
    if (names.has(name)) return `${place}.function.name: "${name}" is there twice.`;
    names.add(name);
    const parameters = tool.function.parameters ?? {};
    if (typeof parameters !== "object" || Array.isArray(parameters)) {
      return `${place}.function.parameters must be an object.`;
    }
  }
  return null;
}

/// Every browser words it differently: line and column, a position, or nothing at all.
function whereInText(message, text) {
  const named = /line (\d+) column (\d+)/.exec(message);
  const position = /position (\d+)/.exec(message);
  const what = message
    .replace(/^JSON\.parse: /, "")
    .replace(/ ?(in JSON )?at (position|line) .*$/, "")
    .replace(/, "?[^,]*" is not valid JSON$/s, "");
  if (named) return `Line ${named[1]}, column ${named[2]}: ${what}`;
  if (position) {
    const before = text.slice(0, Number(position[1])).split("\n");
    return `Line ${before.length}, column ${before.at(-1).length + 1}: ${what}`;
  }
  return `This is no JSON: ${what}`;
}
