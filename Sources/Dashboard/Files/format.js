// Numbers and times as people read them.

export function duration(seconds) {
  if (!Number.isFinite(seconds) || seconds < 0) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds)} s`;
  const whole = Math.floor(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${String(Math.floor(whole / 60) % 60).padStart(2, "0")} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor(whole / 3600) % 24} h`;
}

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
/** Between two marks of an axis of time, in milliseconds: what people count in. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500], ...[1, 2, 5, 10, 15, 30].map((one) => one * SECOND), ...[1, 2, 5, 10, 15, 30].map((one) => one * MINUTE),
  ...[1, 2, 3, 6, 12].map((one) => one * HOUR), ...[1, 2, 7, 14, 30, 60, 120, 365, 730, 3650].map((one) => one * DAY),
];

/** The marks of an axis of `span` milliseconds, at most `count` and the first one. */
export function ticks(span, count) {
  const step = STEPS.find((one) => one * count >= span) ?? Math.ceil(span / count);
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => index * step);
}

/** `0`, `250 ms`, `1.5 s`, `1 min 30 s`, `2 h`, `3 d`. */
export function tick(milliseconds) {
  if (milliseconds === 0) return "0";
  if (milliseconds < SECOND) return `${milliseconds} ms`;
  if (milliseconds < MINUTE) return `${milliseconds / SECOND} s`;
  const parts = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [SECOND, "s"]];
  let rest = milliseconds;
  const words = [];
  for (const [unit, name] of parts) {
    if (rest >= unit) words.push(`${Math.floor(rest / unit)} ${name}`);
    rest %= unit;
  }
  return words.slice(0, 2).join(" ");
}

export function ago(time) {
  if (!time) return "–";
  const seconds = (Date.now() - Date.parse(time)) / 1000;
  return seconds < 2 ? "just now" : seconds < 60 ? `${Math.floor(seconds)} s ago` : `${duration(seconds)} ago`;
}

export function clock(time) {
  if (!time) return "–";
  const date = new Date(time);
  const today = new Date().toDateString() === date.toDateString();
  const text = date.toLocaleTimeString([], { hour12: false });
  return today ? text : `${date.toLocaleDateString()} ${text}`;
}

export function number(value) { return value.toLocaleString("en").replaceAll(",", "\u202f"); }

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit += 1; }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export const FINAL = new Set(["succeeded", "failed", "cancelled"]);

/** How many have ended. */
export const ended = (counts) => counts.succeeded + counts.failed + counts.cancelled;

/** Operations per second, over the last half minute, and what that means for the rest. */
export class Rate {
  constructor() { this.points = []; }

  note(count) {
    const now = performance.now() / 1000;
    this.points.push([now, count]);
    while (this.points.length > 2 && this.points[0][0] < now - 30) this.points.shift();
  }

  get perSecond() {
    if (this.points.length < 2) return null;
    const [t0, c0] = this.points[0];
    const c1 = this.points[this.points.length - 1][1];
    const span = performance.now() / 1000 - t0;
    return span < 0.5 ? null : Math.max(0, c1 - c0) / span;
  }
}

/** `12 /s · 3 min left` of a submission that goes on. */
export function pace(submission, rate) {
  if (FINAL.has(submission.state)) return duration(submission.duration);
  const done = ended(submission.counts);
  let perSecond = rate?.perSecond;
  if (perSecond === null || perSecond === undefined) {
    const age = (Date.now() - Date.parse(submission.submittedAt)) / 1000;
    perSecond = age > 1 ? done / age : null;
  }
  if (submission.state === "paused") return "paused";
  if (!perSecond) return done === 0 ? (submission.counts.running ? "none has ended yet" : "not yet begun") : "–";
  const left = (submission.counts.total - done) / perSecond;
  const shown = perSecond >= 10 ? Math.round(perSecond) : perSecond.toFixed(1);
  return `${shown}/s · ${duration(left)} left`;
}
