// What each client has to be told. `fields` are typed into a client's settings, `code` goes into a file.

/// In the place of the key, which the page does not have.
const KEY = null;

/// Every client, in the order of the page. `tested` has the packages that the tests or `scripts/clients` run, which a test
/// compares with their lock files, and `testing` what there is to say about it. Each gets `{base, model}`: the base URL and a model.
export const CLIENTS = [
  {
    id: "obsidian-native",
    title: "Obsidian Copilot 3.2 and newer",
    tested: ["@langchain/openai 1.2.2", "@langchain/openai 1.5.8"],
    testing: "The library that it ships; not the plugin itself.",
    about:
      "These versions read tool calls as OpenAI sends them. Add a custom model (in 4.x: Settings → Copilot → BYOK → "
      + "Add a provider, with an OpenAI-compatible endpoint).",
    blocks: ({ base }) => [
      {
        fields: [
          ["Model name", "chat"],
          ["Provider", "OpenAI Format"],
          ["Base URL", base],
          ["API key", KEY],
        ],
      },
    ],
    remarks: [
      "The name decides the endpoint: `chat`, `chat-low`, `chat-medium` and `chat-high` go to `/v1/chat/completions`; names "
        + "that begin with `gpt-5`, and in 4.x all names with `codex`, go to `/v1/responses`. Both work.",
      "Leave CORS off: Obsidian's pages may use this server as it is, and with that switch nothing is streamed.",
    ],
  },
  {
    id: "obsidian-xml",
    title: "Obsidian Copilot 3.0 to 3.1.5",
    tested: [],
    testing: "Not run as a plugin: its requests, and how it reads blocks, are part of the tests.",
    about:
      "These versions look for `<use_tool>` blocks in the text, and get them. Add a custom model under Settings → "
      + "Copilot → Model.",
    blocks: ({ base }) => [
      {
        fields: [
          ["Model name", "chat"],
          ["Provider", "3rd party (openai-format)"],
          ["Base URL", base],
          ["API key", KEY],
        ],
      },
    ],
    remarks: [
      "Take one of `chat`, `chat-low`, `chat-medium`, `chat-high`. Names that begin with `gpt-5` go to `/v1/responses`, which "
        + "has the blocks only with `PROXY_RESPONSES_OUTPUT_MODE=obsidian-xml`.",
      "Leave CORS off: Obsidian's pages may use this server as it is.",
    ],
  },
  {
    id: "openai-python",
    title: "OpenAI for Python",
    tested: ["openai 3.49.0"],
    about: "Chat completions and responses, streamed or not.",
    blocks: ({ base, model }) => [
      {
        code: `import os
from openai import OpenAI

client = OpenAI(
    base_url="${base}",
    api_key=os.environ["KEY"],
)
stream = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="")`,
      },
    ],
  },
  {
    id: "openai-node",
    title: "OpenAI for Node.js",
    tested: ["openai 6.49.0"],
    about: "Chat completions and responses, streamed or not.",
    blocks: ({ base, model }) => [
      {
        code: `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${base}",
  apiKey: process.env.KEY,
});
const stream = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello" }],
  stream: true,
});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? "");
}`,
      },
    ],
  },
  {
    id: "langchain-python",
    title: "LangChain for Python",
    tested: ["langchain-openai 1.7.3"],
    about: "The package `langchain-openai`.",
    blocks: ({ base, model }) => [
      {
        code: `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="${model}",
    base_url="${base}",
    api_key=os.environ["KEY"],
)
print(model.invoke("Hello").content)`,
      },
    ],
    remarks: ["`use_responses_api=True` makes it use `/v1/responses`."],
  },
  {
    id: "langchain-js",
    title: "LangChain for JavaScript",
    tested: ["@langchain/openai 1.5.8"],
    about: "The package `@langchain/openai`.",
    blocks: ({ base, model }) => [
      {
        code: `import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({
  model: "${model}",
  apiKey: process.env.KEY,
  configuration: { baseURL: "${base}" },
});
console.log((await model.invoke("Hello")).content);`,
      },
    ],
  },
  {
    id: "ai-sdk",
    title: "AI SDK",
    tested: ["ai 6.0.319", "@ai-sdk/openai 3.0.139"],
    about: "The packages `ai` and `@ai-sdk/openai`.",
    blocks: ({ base, model }) => [
      {
        code: `import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";

const codex = createOpenAI({
  baseURL: "${base}",
  apiKey: process.env.KEY,
});
const { textStream } = streamText({
  model: codex("${model}"),
  prompt: "Hello",
});
for await (const text of textStream) process.stdout.write(text);`,
      },
    ],
    remarks: [`\`codex("…")\` uses \`/v1/responses\`, \`codex.chat("…")\` uses \`/v1/chat/completions\`.`],
  },
  {
    id: "open-webui",
    title: "Open WebUI",
    tested: ["open-webui 0.12.4"],
    testing: "Its backend; not its page.",
    about: "Admin Panel → Settings → Connections, and there a new connection under OpenAI API:",
    blocks: ({ base }) => [
      {
        fields: [
          ["URL", base],
          ["Key", KEY],
        ],
      },
      {
        code: `docker run -d --network=host \\
  -v open-webui:/app/backend/data \\
  -e OPENAI_API_BASE_URL=${base} \\
  -e OPENAI_API_KEY=$KEY \\
  ghcr.io/open-webui/open-webui:main`,
      },
    ],
    remarks: [
      "In a container it needs the host's network, because this server listens on its own machine alone. The page of "
        + "Open WebUI is then at port 8080.",
    ],
  },
  {
    id: "codex-cli",
    title: "Codex CLI",
    tested: ["@openai/codex 0.166.0"],
    about: "In `~/.codex/config.toml`. The key is in the environment.",
    blocks: ({ base }) => [
      {
        code: `model = "gpt-5.5"
model_provider = "codex-completions"

[model_providers.codex-completions]
name = "codex-completions"
base_url = "${base}"
env_key = "KEY"
wire_api = "responses"`,
      },
    ],
    remarks: [
      "`gpt-5.5` finds the tools of MCP servers by a search that OpenAI alone offers; models of GPT-6 call them from "
        + "their code. `docs/clients.md` has a way for `gpt-5.5`.",
    ],
  },
  {
    id: "copilot-cli",
    title: "GitHub Copilot CLI",
    tested: ["@github/copilot-linux-x64 1.0.102"],
    about: 'Without a GitHub account, with `copilot -p "…"` or at its prompt:',
    blocks: ({ base, model }) => [
      {
        code: `export COPILOT_PROVIDER_BASE_URL=${base}
export COPILOT_PROVIDER_API_KEY=$KEY
export COPILOT_PROVIDER_WIRE_API=responses
export COPILOT_MODEL=${model}
export COPILOT_OFFLINE=true
copilot`,
      },
    ],
    remarks: ["`COPILOT_PROVIDER_WIRE_API=completions` uses `/v1/chat/completions`."],
  },
  {
    id: "cline",
    title: "Cline and Roo Code",
    tested: ["@cline/cli-linux-x64 3.0.65"],
    testing: "Its CLI; not the extensions.",
    about: "In the extension's settings, or for the CLI with `cline auth`:",
    blocks: ({ base, model }) => [
      {
        fields: [
          ["API Provider", "OpenAI Compatible"],
          ["Base URL", base],
          ["API Key", KEY],
          ["Model ID", model],
        ],
      },
      { code: `cline auth --provider openai-compatible --baseurl ${base} --apikey $KEY --modelid ${model}` },
    ],
    remarks: ["The provider `openai-native` works as well, and uses `/v1/responses`."],
  },
  {
    id: "opencode",
    title: "opencode",
    tested: ["opencode-linux-x64-baseline 1.18.33"],
    about:
      "In `~/.config/opencode/opencode.json`. The agent of Obsidian Copilot 4 goes the same way for an endpoint of one's own.",
    blocks: ({ base, model }) => [
      {
        code: JSON.stringify(
          {
            provider: {
              "codex-completions": {
                npm: "@ai-sdk/openai-compatible",
                name: "codex-completions",
                options: { baseURL: base, apiKey: "{env:KEY}" },
                models: { [model]: { name: model } },
              },
            },
            model: `codex-completions/${model}`,
            small_model: `codex-completions/${model}`,
          },
          null,
          2,
        ),
      },
    ],
  },
  {
    id: "continue",
    title: "Continue",
    tested: ["@continuedev/cli 1.5.47"],
    testing: "Its CLI; not the extensions.",
    about: "In `~/.continue/config.yaml`:",
    blocks: ({ base, model }) => [
      {
        code: `name: My Config
version: 1.0.0
schema: v1
models:
  - name: Codex
    provider: openai
    model: ${model}
    apiBase: ${base}
    apiKey: YOUR_KEY
    roles: [chat, edit, apply]
    capabilities: [tool_use, image_input]`,
      },
    ],
  },
  {
    id: "zed",
    title: "Zed",
    tested: [],
    testing: "Not run.",
    about:
      "In `settings.json`. The key does not belong there: enter it in the agent's settings, under LLM Providers, or set "
      + "it in the environment of Zed.",
    blocks: ({ base, model }) => [
      {
        code: JSON.stringify(
          {
            language_models: {
              openai_compatible: {
                "codex-completions": {
                  api_url: base,
                  available_models: [
                    {
                      name: model,
                      display_name: `${model} (Codex)`,
                      max_tokens: 200000,
                      capabilities: { tools: true, images: true, parallel_tool_calls: true, prompt_cache_key: false },
                    },
                  ],
                },
              },
            },
          },
          null,
          2,
        ),
      },
      { code: "export CODEX_COMPLETIONS_API_KEY=$(cat ~/.local/share/codex-completions/api-key)" },
    ],
    remarks: ["`max_tokens` is the context window that Zed counts with: set it to the model's own."],
  },
  {
    id: "litellm",
    title: "LiteLLM",
    tested: [],
    testing: "Not run in front of this server.",
    about: "In the proxy's `config.yaml`. Clients of LiteLLM send its own key, the one in `LITELLM_MASTER_KEY`.",
    blocks: ({ base, model }) => [
      {
        code: `model_list:
  - model_name: codex
    litellm_params:
      model: openai/${model}
      api_base: ${base}
      api_key: os.environ/KEY
general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY`,
      },
    ],
  },
  {
    id: "curl",
    title: "curl",
    tested: [],
    testing: "The commands of the documents are run by the tests.",
    about: "With `-N`, so that the answer is shown as it comes.",
    blocks: ({ base, model }) => [
      {
        code: `curl -N ${base}/chat/completions \\
  -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "stream": true,
       "messages": [{"role": "user", "content": "Hello"}]}'`,
      },
    ],
  },
];
