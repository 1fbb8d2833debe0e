// From ./start to the first streamed tool call in the page: the steps of a newcomer, and the seconds of each part.
// `scripts/first-run` gives the folder of a fresh clone.
import { spawn } from "node:child_process";
import { chromium } from "playwright-core";
import { browserOptions } from "./chromium.mjs";

/** Parts that the first run alone has. */
const INSTALLED = "Codex is installed";
const BUILT = "built";
const ONCE = [INSTALLED, BUILT];

const steps = [];
const parts = [];
let last = performance.now();

/** Something that a person has to do. */
function step(what) {
  steps.push(what);
}

/** The end of a part. */
function part(name) {
  const now = performance.now();
  parts.push([name, (now - last) / 1_000]);
  last = now;
}

// The link with its code is for terminals alone.
step("./start");
const server = spawn("script", ["--quiet", "--flush", "--return", "--command", "./start --port 0", "/dev/null"], {
  cwd: process.argv[2],
  stdio: ["pipe", "pipe", "inherit"],
});
// However this ends, the server ends too.
process.on("exit", () => server.kill());
let said = "";
const link = await new Promise((found, failed) => {
  const marks = [
    [/Compiling|Finished|Updating|Downloading/, INSTALLED],
    [/Finished/, BUILT],
  ];
  server.stdout.on("data", (data) => {
    said += data;
    while (marks.length > 0 && marks[0][0].test(said)) part(marks.shift()[1]);
    const link = /http:\/\/\S+#code=[^\s\p{Cc}]+/u.exec(said);
    if (link) found(link[0]);
  });
  server.on("exit", () => failed(new Error(`./start ended:\n${said}`)));
});
part("the server is ready, and prints its link");

const browser = await chromium.launch(browserOptions());
const page = await browser.newPage();
part("the browser starts");

step("open the printed link");
await page.goto(link);
await page.getByTestId("login-state").waitFor();
part("the page is there");

step("Playground");
await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Playground", exact: true }).click();
step("Send");
await page.getByRole("button", { name: "Send", exact: true }).click();
await page.getByTestId("answer-text").filter({ hasText: /\S/ }).first().waitFor();
part("the first word");
await page.getByTestId("call").first().waitFor();
part("the first tool call");

console.log(`${steps.length} steps: ${steps.join(", ")}`);
for (const [name, seconds] of parts) console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`);
const sum = (chosen) =>
  chosen
    .reduce((sum, [, seconds]) => sum + seconds, 0)
    .toFixed(1)
    .padStart(7);
console.log(`${sum(parts)} s  in all`);
console.log(`${sum(parts.filter(([name]) => !ONCE.includes(name)))} s  without what is done once`);

await browser.close();
server.removeAllListeners("exit");
const ended = new Promise((resolve) => server.on("exit", resolve));
server.stdin.write("\x03");
await ended;
