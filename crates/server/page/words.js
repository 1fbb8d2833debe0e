// Numbers, times and lengths of time, as people say them.

const number = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const clockWithSeconds = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const dayAndClock = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

export const count = (value) => number.format(value);

export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/// A short length of time: how long a part of a turn took.
export function took(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return lasting(seconds);
}

/// A long one, in its two largest units.
export function lasting(seconds) {
  const units = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ];
  let left = Math.max(0, Math.round(seconds));
  const parts = [];
  for (const [unit, size] of units) {
    const whole = Math.floor(left / size);
    left -= whole * size;
    if (whole > 0) parts.push(`${whole} ${unit}`);
    if (parts.length === 2 || (parts.length === 1 && whole === 0)) break;
  }
  return parts.join(" ") || "0 s";
}

/// When a window of the allowance begins again: "resets in 2 h 10 min (18:40)".
export function resets(at, now = Date.now()) {
  const left = at - now / 1000;
  if (left <= 0) return "resets now";
  const when = new Date(at * 1000);
  const format = left < 20 * 3_600 ? clock : dayAndClock;
  return `resets in ${lasting(left < 60 ? left : Math.ceil(left / 60) * 60)} (${format.format(when)})`;
}

/// How long a window of the allowance is: "5 hours", "7 days".
export function windowOf(minutes) {
  if (minutes % 1_440 === 0) return plural(minutes / 1_440, "day");
  if (minutes % 60 === 0) return plural(minutes / 60, "hour");
  return plural(minutes, "minute");
}

export const timeOfDay = (ms) => clockWithSeconds.format(new Date(ms));

export const moment = (ms) => dayAndClock.format(new Date(ms));
