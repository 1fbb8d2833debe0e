// A server that sends the same hostile text wherever a client shows something. Arguments: the data folder, whose secret
// it makes, so that it proves to be our server; and the text, as JSON.
const { createHmac, randomBytes } = require("node:crypto");
const { mkdirSync, writeFileSync } = require("node:fs");
const { createServer } = require("node:http");

const [folder, json] = process.argv.slice(1);
const text = JSON.parse(json);
const secret = randomBytes(32);
const turn = {
  id: "1/0",
  state: "ended",
  started_at: 1800000000000,
  key: text,
  client: text,
  model: text,
  stop_reason: text,
  failure: null,
  tool_calls: [text],
  tokens: null,
  duration_ms: 1,
};
const status = {
  ready: false,
  reason: text,
  version: text,
  upstream: text,
  workers: [{ codex: text }],
  turns: { running: text },
  kept_threads: { idle: text },
  restarts: text,
};

function proof(nonce) {
  const mac = createHmac("sha256", secret).update("codex-completions server identity 1\n");
  return mac.update(Buffer.from(nonce, "base64url")).update(`127.0.0.1:${server.address().port}`).digest("base64url");
}

const server = createServer((asked, answer) => {
  asked.resume().on("end", () => {
    const { pathname, searchParams } = new URL(asked.url, "http://hostile");
    if (pathname === "/v1/proxy/events" && asked.headers.authorization === "Bearer accepted") {
      answer.writeHead(200, { "content-type": "text/event-stream" });
      for (const [name, data] of Object.entries({ status, turns: { turns: [turn] }, turn })) {
        answer.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
      }
      return;
    }
    const answers = {
      "/readyz": { ready: false, reason: text },
      "/identity": { proof: proof(searchParams.get("nonce") ?? "") },
      "/v1/models": { object: "list", data: [{ id: text, object: "model" }] },
      "/v1/proxy/code": { code: text, page: text },
    };
    const known = pathname in answers;
    answer.writeHead(known ? 200 : 400, { "content-type": "application/json" });
    answer.end(
      JSON.stringify(known ? answers[pathname] : { error: { message: `${text}\nforged`, code: text, type: text } }),
    );
  });
});

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  mkdirSync(`${folder}/run`, { recursive: true, mode: 0o700 });
  writeFileSync(`${folder}/run/${port}`, secret.toString("base64url"), { mode: 0o600 });
  console.log(port);
});
