// Who ran what when: a line for each slot of a worker that was used, and above them a mark for what failed or was lost.

import { append, h, replace, state } from "./dom.js";
import { clock, duration, number, tick, ticks } from "./format.js";

const ROW = 18, LEFT = 132, TOP = 26, RIGHT = 12;
/** Pixels between two marks of the axis, and of a mark of something that failed. */
const TICK = 96, MARK = 3;

export class TimelineView {
  constructor(work, onOpen) {
    this.work = work;
    this.onOpen = onOpen;
    this.canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": "The timeline. Left and right go from attempt to attempt as they began, Enter opens the operation of one; the list of operations has the same as text.", "aria-describedby": "timeline-selection" });
    this.info = h("p", { class: "graph-info", id: "timeline-selection", "aria-live": "off" }, h("span", { class: "muted" }, "Point at a bar to see what it is."));
    this.scroll = h("div", { class: "timeline-scroll" }, this.canvas);
    this.empty = h("p", { class: "empty", hidden: true }, "Nothing has begun yet.");
    this.legend = h("div", { class: "legend" });
    this.element = h("div", { class: "timeline" }, this.scroll, this.empty, this.info, this.legend);
    this.bars = [];
    /** The attempt that the keyboard has come to. */
    this.chosen = null;
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.observer = new ResizeObserver(() => this.update());
    this.observer.observe(this.scroll);
    this.timer = setInterval(() => { if (this.isMoving) this.update(); }, 1000);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.recolour = () => this.update();
    this.scheme.addEventListener("change", this.recolour);
    this.canvas.addEventListener("pointermove", (event) => this.show(this.at(event)));
    this.canvas.addEventListener("click", (event) => { const bar = this.at(event); if (bar) this.onOpen(bar.node); });
  }

  close() {
    this.observer.disconnect();
    this.scheme.removeEventListener("change", this.recolour);
    clearInterval(this.timer);
  }

  update() {
    const now = Date.now(), lanes = new Map();
    const begun = this.work.operations.flatMap((node) => attempts(node, now)).sort((a, b) => a.from - b.from);
    this.empty.hidden = begun.length > 0;
    this.scroll.hidden = begun.length === 0;
    this.count(begun);
    if (!begun.length) return;
    this.isMoving = begun.some((bar) => bar.isOpen);
    for (const bar of begun) {
      const worker = bar.worker || "–";
      if (!lanes.has(worker)) lanes.set(worker, []);
      const own = lanes.get(worker);
      let lane = own.find((one) => one.end <= bar.from);
      if (!lane) { lane = { end: 0, bars: [] }; own.push(lane); }
      lane.end = bar.to;
      lane.bars.push(bar);
    }
    this.start = begun[0].from;
    this.end = Math.max(this.start + 1, ...[...lanes.values()].flat().map((lane) => lane.end));
    const rows = [], marked = begun.filter((bar) => bar.kind in MARKED);
    if (marked.length) rows.push({ label: "failed, lost", isMarks: true, bars: marked });
    for (const [worker, own] of [...lanes].sort((a, b) => a[0].localeCompare(b[0], "en", { numeric: true }))) {
      own.forEach((lane, index) => rows.push({ label: index === 0 ? worker : "", bars: lane.bars }));
    }
    this.paint(rows);
  }

  /** What the colours mean, and of how many attempts. */
  count(bars) {
    const tally = new Map();
    for (const bar of bars) {
      const name = NAMES[bar.kind] ?? bar.kind, entry = tally.get(name) ?? { colour: bar.colour, count: 0 };
      entry.count += 1;
      tally.set(name, entry);
    }
    const texts = [...tally].sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b)).map(([name, entry]) => [entry.colour, `${name} ${number(entry.count)}`]);
    const text = texts.join();
    if (text === this.counted) return;
    this.counted = text;
    replace(this.legend);
    append(this.legend, texts.map(([colour, words]) => h("span", { class: "state", data: { state: colour } }, h("i", { "aria-hidden": "true" }), words)));
  }

  paint(rows) {
    const ratio = devicePixelRatio || 1, style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const width = Math.max(320, this.scroll.clientWidth - 32), height = TOP + rows.length * ROW + 8;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "12px system-ui, sans-serif";
    const left = width < 560 ? 84 : LEFT;
    const span = this.end - this.start, scale = (width - left - RIGHT) / span;
    context.fillStyle = colour("--muted");
    context.strokeStyle = colour("--line");
    const axis = ticks(span, Math.max(1, Math.floor((width - left) / TICK)));
    this.canvas.dataset.axis = axis.map(tick).join(", ");
    for (const at of axis) {
      const x = left + at * scale, text = tick(at);
      context.beginPath();
      context.moveTo(x + 0.5, TOP - 6);
      context.lineTo(x + 0.5, height);
      context.stroke();
      const half = context.measureText(text).width / 2;
      context.fillText(text, at === 0 ? x : Math.min(x - half, width - 2 * half), 14);
    }
    this.bars = [];
    const states = {};
    const fill = (bar) => { context.fillStyle = states[bar.colour] ??= colour(`--state-${bar.colour}`); };
    rows.forEach((row, index) => {
      const y = TOP + index * ROW;
      context.fillStyle = colour(row.isMarks ? "--muted" : "--ink");
      let label = row.label;
      while (label.length > 3 && context.measureText(label).width > left - 14) label = `…${label.slice(2)}`;
      context.fillText(label, 0, y + 12);
      // What went wrong is drawn above what lies close to it.
      for (const bar of [...row.bars].sort((a, b) => (a.kind in MARKED) - (b.kind in MARKED))) {
        const end = left + (bar.to - this.start) * scale;
        const x = row.isMarks ? end - MARK / 2 : left + (bar.from - this.start) * scale;
        const w = row.isMarks ? MARK : Math.max(bar.kind in MARKED ? 2.5 : 1.5, end - x - 0.5);
        fill(bar);
        context.fillRect(x, y + 2, w, ROW - 5);
        this.bars.push({ ...bar, x, y, w: Math.max(w, 3), isMark: row.isMarks });
      }
    });
    this.outline(context, colour("--accent"));
  }

  outline(context, colour) {
    const bar = this.chosen && this.bars.find((one) => !one.isMark && isSame(one, this.chosen));
    if (!bar) return;
    context.lineWidth = 2;
    context.strokeStyle = colour;
    context.strokeRect(bar.x - 2, bar.y, bar.w + 4, ROW - 1);
  }

  key(event) {
    const all = this.bars.filter((bar) => !bar.isMark).sort((a, b) => a.from - b.from || a.y - b.y);
    const index = all.findIndex((bar) => this.chosen && isSame(bar, this.chosen));
    const next = { ArrowRight: index + 1, ArrowLeft: index < 0 ? all.length - 1 : index - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Enter" && index >= 0) this.onOpen(all[index].node);
    else if (next === undefined) return;
    else if (all[next]) this.choose(all[next]);
    event.preventDefault();
  }

  choose(bar) {
    this.chosen = { node: bar.node, attempt: bar.attempt };
    this.info.setAttribute("aria-live", "polite");
    this.update();
    this.show(bar);
    this.scroll.scrollTop = Math.max(0, Math.min(this.scroll.scrollTop, bar.y - ROW), bar.y + 3 * ROW - this.scroll.clientHeight);
  }

  at(event) {
    const r = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - r.left, event.clientY - r.top];
    return this.bars.findLast((bar) => x >= bar.x && x <= bar.x + bar.w && y >= bar.y && y < bar.y + ROW) ?? null;
  }

  show(bar) {
    this.canvas.style.cursor = bar ? "pointer" : "";
    if (!bar) return;
    const facts = [bar.attempt > 1 || bar.ended ? `attempt ${bar.attempt}${bar.ended ? ` ${bar.ended}` : ""}` : "", clock(bar.startedAt), duration((bar.to - bar.from) / 1000), bar.worker || "–", bar.text];
    replace(this.info, state(bar.node.state), h("strong", {}, bar.node.path), h("span", { class: "muted" }, facts.filter(Boolean).join(" · ")));
  }
}

const isSame = (a, b) => a.node.unit === b.node.unit && a.attempt === b.attempt;

/** The colours of attempts that did not count. */
const ENDED = { failed: "retrying", lost: "stopping", cancelled: "cancelled", succeeded: "cancelled" };
/** What has a mark above the lines. */
const MARKED = { failed: true, lost: true };
/** What the kinds of bars are called: a state, or how an attempt ended that did not count. */
const NAMES = { failedAgain: "failed and tried again", cancelledAgain: "did not count" };
const ORDER = ["running", "stopping", "succeeded", "failed", "failed and tried again", "lost", "cancelled", "did not count"];

/** What an operation has of bars: one for each attempt that had begun. */
function attempts(node, now) {
  const bars = (node.earlierAttempts || []).map((one) => ({
    node, from: Date.parse(one.startedAt), to: Date.parse(one.finishedAt), startedAt: one.startedAt, worker: one.worker,
    attempt: one.attempt, ended: one.ended, text: one.text, colour: ENDED[one.ended] || "cancelled",
    kind: one.ended === "lost" ? "lost" : one.ended === "failed" ? "failedAgain" : "cancelledAgain",
  }));
  // The newest attempt may have ended without counting, and another one follow.
  if (!node.startedAt || bars.at(-1)?.attempt === node.attempts) return bars;
  bars.push({
    node, from: Date.parse(node.startedAt), to: node.finishedAt ? Date.parse(node.finishedAt) : now, startedAt: node.startedAt,
    worker: node.worker, attempt: node.attempts, colour: node.state, kind: node.state, isOpen: !node.finishedAt,
  });
  return bars;
}
