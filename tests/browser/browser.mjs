// A browser at the page of a running server. Every scenario has a visit of its own, with nothing stored, and
// fails if anything happens that should not: a message on the console, a request that fails or leaves the
// origin, something that the content security policy stops.
import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { browserOptions } from "./chromium.mjs";

/** Where the server is, without a slash at the end. */
export const origin = process.env.ORIGIN;
/** The owner's key. */
export const key = process.env.KEY;

/** Longest that anything is waited for; everything takes well under a second on a quiet machine. */
const PATIENCE = 20_000;

let browser;
const input = createInterface({ input: process.stdin });
const answers = input[Symbol.asyncIterator]();
// Whoever has started this program has gone, and with it the server.
input.on("close", () => process.exit(1));

/** Starts the one browser of this program, with more arguments if need be. */
export async function launch(...more) {
  browser = await chromium.launch(browserOptions(...more));
}

/** Ends the browser and the program. */
export async function finish() {
  await browser.close();
  process.exit(0);
}

/** Has the test do something at the other side: the issuer, the server, the child. Gives what it says. */
export async function ask(wish) {
  console.log(`? ${wish}`);
  const { value } = await answers.next();
  return value;
}

/** Asks the server as another client would. */
export function request(path, { method = "GET", body, ...more } = {}) {
  const headers = { authorization: `Bearer ${key}`, "user-agent": "another-client/1.0" };
  if (body !== undefined) headers["content-type"] = "application/json";
  return fetch(`${origin}${path}`, { method, headers, body: body && JSON.stringify(body), ...more });
}

/** The JSON that the server has under a path. */
export async function json(path) {
  const answer = await request(path);
  assert.equal(answer.status, 200, path);
  return answer.json();
}

/** The fragment of a new link, as a terminal gets it. */
export async function link() {
  const answer = await request("/v1/proxy/code", { method: "POST" });
  const { code } = await answer.json();
  return `#code=${code}`;
}

/**
 * Opens the page and plays `steps` on it.
 * - `at`: the fragment to begin with; the printed link's unless told
 * - `from`: where the page is opened; `origin` unless told
 * - `screen`: options of the browser's context (viewport, colour scheme)
 */
export async function scenario(name, options, steps) {
  const { at = await link(), from = origin, screen = {} } = options;
  const context = await browser.newContext(screen);
  context.setDefaultTimeout(PATIENCE);
  const visit = new Visit(context, await context.newPage(), from);
  try {
    await visit.watch();
    await visit.page.goto(`${from}/${at}`);
    await steps(visit);
    visit.check();
  } catch (error) {
    console.log(`FAILED: ${name}\n${error.stack}`);
    console.log(`problems: ${JSON.stringify(visit.problems, null, 2)}`);
    console.log(await visit.page.locator("body").ariaSnapshot().catch(String));
    if (process.env.SCREENSHOT) await visit.page.screenshot({ path: process.env.SCREENSHOT, fullPage: true });
    process.exit(1);
  }
  await context.close();
  console.log(`ok: ${name}`);
}

/** The page, and what is wrong with it. */
class Visit {
  constructor(context, page, from) {
    Object.assign(this, { context, page, from });
    /** What should not have happened. */
    this.problems = [];
    /** Problems that belong to the scenario. */
    this.expected = [];
    /** Problems that may happen or not. */
    this.tolerated = [];
    /** Requests of this page, and of every page that it has opened: those of a login, which go elsewhere. */
    this.own = new Set();
    this.all = [];
  }

  async watch() {
    const { context, page } = this;
    const note = (what) => this.problems.push(what);
    context.on("request", (request) => this.all.push(request));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) note(`console: ${message.text()} ${message.location().url}`);
    });
    page.on("pageerror", (error) => note(`error: ${error.stack}`));
    page.on("dialog", (dialog) => note(`dialog: ${dialog.message()}`));
    page.on("request", (request) => {
      this.own.add(request);
      const leaves = new URL(request.url()).origin !== this.from;
      if (leaves && !request.url().startsWith("data:")) note(`leaves: ${request.url()}`);
    });
    waitBeforeLeaving(page);
    page.on("requestfailed", (request) => {
      const { pathname } = new URL(request.url());
      const { errorText } = request.failure();
      // Whoever leaves a page cuts what it still loads, and the stream of events, which has no end of its own.
      const isLeft = pathname.startsWith("/page/") || pathname === "/v1/proxy/events";
      if (!(isLeft && errorText === "net::ERR_ABORTED")) note(`failed: ${errorText} ${request.url()}`);
    });
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
      });
    });
  }

  /** Says that a problem of this kind belongs to the scenario: it has to happen. */
  expect(pattern) {
    this.expected.push(pattern);
  }

  /** Says that a problem of this kind may happen, or not: it is a race. */
  tolerate(pattern) {
    this.tolerated.push(pattern);
  }

  /** Nothing happened but what was expected. */
  check() {
    const known = [...this.expected, ...this.tolerated];
    const unexpected = this.problems.filter((problem) => !known.some((pattern) => pattern.test(problem)));
    assert.deepEqual(unexpected, []);
    for (const pattern of this.expected) {
      assert(
        this.problems.some((problem) => pattern.test(problem)),
        `${pattern} did not happen`,
      );
    }
  }

  /** What the pages that it has opened have asked for. */
  elsewhere() {
    return this.all.filter((request) => !this.own.has(request));
  }

  // What the page has, by the names that people and screen readers know.

  test(id) {
    return this.page.getByTestId(id);
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  field(label) {
    return this.page.getByLabel(label, { exact: true });
  }

  alert() {
    return this.page.getByRole("alert");
  }

  /** Goes to a view, as its name in the navigation says. */
  async view(name) {
    const places = this.page.getByRole("navigation", { name: "Main", exact: true });
    await places.getByRole("link", { name, exact: true }).click();
    await this.page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
  }

  /** Waits until an element has a text. */
  async until(locator, text) {
    await locator.filter({ hasText: text }).first().waitFor();
  }

  /** Enters a key in the form. */
  async enterKey(value) {
    await this.field("API key").fill(value);
    await this.button("Continue").click();
  }

  clipboard() {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }
}

/// What the page asks for is answered before it is left by `goto` or `reload`: an answer that is cut off says nothing
/// about the page. The stream of events has no end, and is left.
function waitBeforeLeaving(page) {
  const open = new Set();
  page.on("request", (request) => {
    if (new URL(request.url()).pathname !== "/v1/proxy/events") open.add(request);
  });
  for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => open.delete(request));
  const answered = async () => {
    while (open.size > 0) {
      const [request] = open;
      // Null once it has failed, and both ends are told of by then.
      await request
        .response()
        .then((response) => response?.finished())
        .catch(() => {});
      open.delete(request);
    }
  };
  for (const leave of ["goto", "reload"]) {
    const left = page[leave].bind(page);
    page[leave] = async (...args) => {
      await answered();
      return left(...args);
    };
  }
}
