// Asks a Prometheus everything that the dashboard's panels ask, and has a browser draw the answers.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const [prometheus, output, minutes = "60", scrapeSeconds = "15"] = process.argv.slice(2);

const POINTS = 300;
const end = Math.floor(Date.now() / 1000);
const range = Number(minutes) * 60;
const step = Math.max(1, Math.round(range / POINTS));
const start = end - range;

// As Grafana fills them in, with "all" for the variables.
const VARIABLES = {
  $job: ".+",
  $instance: ".+",
  $__rate_interval: `${Math.max(step + Number(scrapeSeconds), 4 * Number(scrapeSeconds))}s`,
};

// What Grafana itself draws with.
function uPlot(file) {
  return fileURLToPath(new URL(`node_modules/uplot/dist/${file}`, import.meta.url));
}

function filledIn(expression) {
  return Object.entries(VARIABLES).reduce((text, [name, value]) => text.replaceAll(name, value), expression);
}

async function ask(path, parameters) {
  const answer = await fetch(`${prometheus}/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const { status, error, data } = await answer.json();
  if (status !== "success") throw new Error(`${parameters.query}: ${error}`);
  return data.result;
}

function called(legend, labels) {
  return legend.replace(/{{(\w+)}}/g, (_, label) => labels[label] ?? "");
}

async function series(target) {
  const query = filledIn(target.expr);
  const found = target.instant
    ? (await ask("query", { query, time: end })).map(({ metric, value }) => ({ metric, values: [value] }))
    : await ask("query_range", { query, start, end, step });
  return found.map(({ metric, values }) => ({
    name: called(target.legendFormat, metric),
    values: values.map(([time, value]) => [time, Number(value)]),
  }));
}

const dashboard = JSON.parse(await readFile(new URL("../codex-completions.json", import.meta.url)));
const panels = [];
for (const panel of dashboard.panels) {
  const answers = await Promise.all((panel.targets ?? []).map(series));
  panels.push({ ...panel, series: answers.flat() });
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.goto(new URL("page.html", import.meta.url).href);
  await page.addStyleTag({ path: uPlot("uPlot.min.css") });
  await page.addScriptTag({ path: uPlot("uPlot.iife.min.js") });
  await page.evaluate(({ title, panels, start, end, step }) => draw(title, panels, { start, end, step }), {
    title: dashboard.title,
    panels,
    start,
    end,
    step,
  });
  await page.screenshot({ path: output, fullPage: true });
} finally {
  await browser.close();
}
