// Draws panels of a dashboard, as far as ours need it, the way Grafana does.

const PALETTE = [
  "#73bf69",
  "#f2cc0c",
  "#8ab8ff",
  "#ff780a",
  "#f2495c",
  "#5794f2",
  "#b877d9",
  "#705da0",
  "#37872d",
  "#fade2a",
  "#447ebc",
  "#c15c17",
  "#890f02",
  "#0a437c",
];
const NAMED = { green: "#73bf69", orange: "#ff9830", red: "#f2495c", blue: "#5794f2", text: "#ccccdc" };

function short(value, decimals) {
  if (decimals !== undefined) return value.toFixed(decimals);
  return Number.isInteger(value)
    ? String(value)
    : value.toPrecision(Math.abs(value) >= 100 ? 3 : 2).replace(/\.?0+$/, "");
}

function scaled(value, units, factor) {
  let index = 0;
  while (Math.abs(value) >= factor && index < units.length - 1) {
    value /= factor;
    index += 1;
  }
  return `${short(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)))} ${units[index]}`;
}

function duration(seconds, decimals) {
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  if (size < 0.001) return `${short(Number((seconds * 1e6).toPrecision(3)))} µs`;
  if (size < 1) return `${short(Number((seconds * 1e3).toPrecision(3)))} ms`;
  if (size < 90) return `${short(Number(seconds.toPrecision(3)), decimals)} s`;
  if (size < 5400) return `${short(Number((seconds / 60).toPrecision(3)), decimals)} mins`;
  return size < 2 * 86400
    ? `${short(Number((seconds / 3600).toPrecision(3)))} hours`
    : `${short(Number((seconds / 86400).toPrecision(3)))} days`;
}

function formatted(value, { unit, decimals }) {
  switch (unit) {
    case "none":
      return scaled(value, ["", "K", "Mil", "Bil"], 1000)
        .trim()
        .replace(/^([\d.-]+)$/, (text) => (decimals === undefined ? text : Number(text).toFixed(decimals)));
    case "s":
      return duration(value, decimals);
    case "percentunit":
      return `${short(value * 100, decimals)} %`.replace(/^(\d+\.\d\d)\d+/, "$1");
    case "percent":
      return `${short(value, decimals)} %`;
    case "reqps":
      return `${scaled(value, ["", "K"], 1000).trim()} req/s`;
    case "bytes":
      return scaled(value, ["B", "KiB", "MiB", "GiB"], 1024);
    case "Bps":
      return scaled(value, ["B/s", "kB/s", "MB/s"], 1000);
    default:
      throw new Error(`no format for ${unit}`);
  }
}

function element(parent, tag, className, text = "") {
  const child = document.createElement(tag);
  if (className) child.className = className;
  child.textContent = text;
  return parent.appendChild(child);
}

/// What the panel says about a series by its name.
function overridden(panel, name) {
  const rules = panel.fieldConfig.overrides.filter(({ matcher }) => matcher.options === name);
  return Object.fromEntries(rules.flatMap(({ properties }) => properties.map(({ id, value }) => [id, value])));
}

function last(values) {
  return values.findLast(([, value]) => Number.isFinite(value))?.[1];
}

function drawStat(box, panel) {
  const { defaults } = panel.fieldConfig;
  const stat = element(box, "div", "stat");
  const { textMode, colorMode } = panel.options;
  const shown = panel.series.length > 0 ? panel.series : [{ name: "", values: [] }];
  for (const { name, values } of shown) {
    const value = last(values);
    const nothing = defaults.mappings[0]?.options.result.text ?? "No data";
    const words = textMode === "name" ? name : value === undefined ? nothing : formatted(value, defaults);
    const step = defaults.thresholds.steps.findLast((step) => step.value === null || value >= step.value);
    const figure = element(stat, "div");
    if (textMode === "value_and_name") element(figure, "small", "", name);
    const text = element(figure, "span", "", words);
    text.style.fontSize = words.length > 12 ? "20px" : "38px";
    if (colorMode !== "none" && value !== undefined) text.style.color = NAMED[step.color];
  }
}

function drawSeries(box, panel, { start, end, step }) {
  const { defaults } = panel.fieldConfig;
  if (panel.series.length === 0) {
    element(box, "div", "none", "No data");
    return;
  }
  const chart = element(box, "div", "chart");
  const legend = element(box, "div", "legend");
  const times = Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step);
  const isStacked = defaults.custom.stacking.mode === "normal";
  let below = times.map(() => 0);
  const lines = panel.series.map(({ name, values }, index) => {
    const byTime = new Map(values.filter(([, value]) => Number.isFinite(value)));
    let points = times.map((time) => byTime.get(time) ?? null);
    if (isStacked) {
      points = points.map((value, at) => (value ?? 0) + below[at]);
      below = points;
    }
    const special = overridden(panel, name);
    const color = special.color ? NAMED[special.color.fixedColor] : PALETTE[index % PALETTE.length];
    const entry = element(legend, "span");
    element(entry, "i").style.background = color;
    entry.append(name);
    const value = last(values);
    element(entry, "b", "", value === undefined ? "–" : formatted(value, defaults));
    const opacity = special["custom.fillOpacity"] ?? defaults.custom.fillOpacity;
    const fill =
      color
      + Math.round(opacity * 2.55)
        .toString(16)
        .padStart(2, "0");
    return {
      points,
      fill,
      line: { stroke: color, width: 1, dash: special["custom.lineStyle"]?.dash, points: { show: false } },
    };
  });
  // A stacked line is filled down to the one below it, the others to the axis.
  const bands = isStacked ? lines.slice(1).map(({ fill }, index) => ({ series: [index + 2, index + 1], fill })) : [];
  lines.forEach(({ line, fill }, index) => {
    if (!isStacked || index === 0) line.fill = fill;
  });
  const most = Math.max(0, ...lines.flatMap(({ points }) => points));
  const top = defaults.max ?? (most > 0 ? undefined : 1);
  const clock = (time) => new Date(time * 1000).toTimeString().slice(0, 5);
  const axis = {
    stroke: "#8e8ea0",
    font: "11px Inter, Arial",
    grid: { stroke: "#25272d", width: 1 },
    ticks: { show: false },
  };
  new uPlot(
    {
      width: chart.clientWidth - 8,
      height: chart.clientHeight,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_, _low, high) => [0, top ?? high * 1.08] } },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map(clock), space: 70, size: 24 },
        {
          ...axis,
          values: (_, ticks) => ticks.map((tick) => formatted(tick, { unit: defaults.unit })),
          size: 72,
          space: 36,
          incrs: defaults.decimals === 0 ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] : undefined,
        },
      ],
      bands,
      series: [{}, ...lines.map(({ line }) => line)],
    },
    [times, ...lines.map(({ points }) => points)],
    chart,
  );
}

// render.mjs calls it.
globalThis.draw = (title, panels, range) => {
  const heading = document.querySelector("h1");
  heading.textContent = title;
  const minutes = Math.round((range.end - range.start) / 60);
  element(heading, "small", "", `Last ${minutes} minutes`);
  const main = document.querySelector("main");
  for (const panel of panels) {
    const { x, y, w, h } = panel.gridPos;
    const box = element(
      main,
      "section",
      panel.type === "row" ? "row" : "panel",
      panel.type === "row" ? panel.title : "",
    );
    box.style.gridArea = `${y + 1} / ${x + 1} / span ${h} / span ${w}`;
    if (panel.type === "row") continue;
    element(box, "h2", "", panel.title);
    if (panel.type === "stat") drawStat(box, panel);
    else drawSeries(box, panel, range);
  }
};
