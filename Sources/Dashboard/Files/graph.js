// A submission as a picture: groups are boxes around what is in them, arrows say what waits for what. Drawn on a canvas, so that
// thousands of operations are no trouble; what is large is folded, or shown as small squares.

import { append, h, setText, state as stateMark, replace } from "./dom.js";
import { ago, duration, number } from "./format.js";
import { isGroup, summary, total } from "./work.js";

const CARD = { w: 172, h: 42 }, FOLD = { w: 196, h: 54 }, CELL = 15, GAP = 10, LAYER = 46, PAD = 12, HEAD = 28;
/** Children from which on they are squares. */
const CELLS_FROM = 40;
/** Cards that are unfolded at first, and how many of them squares of one group count for. */
const CARDS_MAX = 150, CELLS_COST = 3;

function palette() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  const states = {};
  for (const name of ["blocked", "locking", "evaluating", "queued", "running", "stopping", "retrying", "paused", "succeeded", "failed", "cancelled"]) {
    states[name] = value(`--state-${name}`);
  }
  return { states, ink: value("--ink"), muted: value("--muted"), line: value("--line"), card: value("--card"), box: value("--box"), accent: value("--accent") };
}

export class GraphView {
  constructor(work, onOpen) {
    this.work = work;
    this.onOpen = onOpen;
    this.folded = new Map();
    this.boxes = [];
    this.edges = [];
    this.selected = null;
    this.view = { x: 0, y: 0, k: 1 };
    this.shape = -1;
    this.isFitted = true;
    this.canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": "The graph. Arrow keys move between operations, Enter opens one, Space folds a group, plus and minus zoom, 0 shows everything.", "aria-describedby": "graph-selection" });
    this.info = h("div", { class: "graph-info", id: "graph-selection", "aria-live": "polite" });
    this.search = h("input", { type: "search", placeholder: "Find an operation", "aria-label": "Find an operation", oninput: () => this.find(this.search.value) });
    this.element = h("div", { class: "graph" },
      h("div", { class: "graph-tools" }, this.search,
        h("button", { type: "button", class: "quiet", onclick: () => this.zoom(1.3), "aria-label": "Larger" }, "+"),
        h("button", { type: "button", class: "quiet", onclick: () => this.zoom(1 / 1.3), "aria-label": "Smaller" }, "−"),
        h("button", { type: "button", class: "quiet", onclick: () => this.fit() }, "Fit")),
      this.canvas, this.info, legend());
    this.palette = palette();
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.recolour = () => { this.palette = palette(); this.draw(); };
    this.scheme.addEventListener("change", this.recolour);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.canvas);
    this.listen();
  }

  close() { this.observer.disconnect(); this.scheme.removeEventListener("change", this.recolour); }

  /** The work has changed. */
  update() {
    if (!this.work.root) return;
    if (this.shape !== this.work.shape) {
      const isFirst = this.shape < 0;
      this.shape = this.work.shape;
      if (this.selected) this.selected = this.work.nodes.get(this.selected.unit) ?? null;
      this.foldAtFirst();
      this.layout();
      if (isFirst || this.isFitted) this.fit();
    }
    this.draw();
    this.showSelection();
    this.element.dataset.ready = String(this.work.nodes.size);
  }

  // Folding

  foldAtFirst() {
    const cost = (node) => (node.children.length > CELLS_FROM ? CELLS_COST : node.children.length);
    let cards = cost(this.work.root);
    const open = [this.work.root];
    // From the outside to the inside; groups that stand side by side are treated alike.
    for (let i = 0; i < open.length; i += 1) {
      const groups = open[i].children.filter(isGroup);
      const fresh = groups.filter((group) => !this.folded.has(group.unit));
      const sum = fresh.reduce((all, group) => all + cost(group), 0);
      const fits = open[i].children.length <= CELLS_FROM && cards + sum <= CARDS_MAX;
      for (const group of fresh) this.folded.set(group.unit, !fits);
      if (fits) cards += sum;
      open.push(...groups.filter((group) => !this.isFolded(group)));
    }
  }

  isFolded(node) { return isGroup(node) && node !== this.work.root && (this.folded.get(node.unit) ?? true); }

  toggle(node) {
    if (!isGroup(node) || node === this.work.root) return;
    this.folded.set(node.unit, !this.isFolded(node));
    this.isFitted = false;
    this.layout();
    this.draw();
    this.showSelection();
  }

  // Layout

  layout() {
    this.boxes = [];
    this.boxOf = new Map();
    const root = this.measure(this.work.root, false);
    this.place(root, 0, 0, 0);
    this.size = { w: root.w, h: root.h };
    this.connect();
  }

  measure(node, isCell) {
    if (!isGroup(node)) return { node, w: isCell ? CELL : CARD.w, h: isCell ? CELL : CARD.h, kind: isCell ? "cell" : "card" };
    if (this.isFolded(node)) return isCell ? { node, w: CELL * 1.8, h: CELL, kind: "cell" } : { node, ...FOLD, kind: "fold" };
    const small = node.children.length > CELLS_FROM;
    const items = node.children.map((child) => this.measure(child, small));
    const inner = items.length === 0 ? { w: 60, h: 8 } : small ? flow(items) : columns(items);
    const label = Math.min(260, 30 + node.path.length * 7);
    return { node, items, inner, w: Math.max(inner.w + 2 * PAD, label), h: inner.h + HEAD + PAD, kind: "box" };
  }

  place(item, x, y, depth) {
    const box = { node: item.node, kind: item.kind, x, y, w: item.w, h: item.h, depth };
    this.boxes.push(box);
    this.boxOf.set(item.node, box);
    for (const child of item.items ?? []) this.place(child, x + PAD + child.dx, y + HEAD + child.dy, depth + 1);
  }

  /** Arrows between what stands side by side. */
  connect() {
    const seen = new Set();
    this.edges = [];
    const visible = (node) => {
      let found = node;
      for (let up = node; up; up = up.up) if (!this.boxOf.has(up)) found = up.up;
      return found;
    };
    for (const node of this.work.nodes.values()) {
      for (const dependency of node.dependencies) {
        let [from, to] = [visible(dependency), visible(node)];
        if (!from || !to || from === to) continue;
        const around = new Map();
        for (let up = from, child = from; up; child = up, up = up.up) around.set(up, child);
        let child = to, up = to.up;
        while (up && !around.has(up)) { child = up; up = up.up; }
        if (!up) continue;
        from = around.get(up);
        to = child;
        if (from === to || from === up) continue;
        const [a, b] = [this.boxOf.get(from), this.boxOf.get(to)];
        if (!a || !b || (a.kind === "cell" && b.kind === "cell")) continue;
        const key = from.unit * 4294967296 + to.unit;
        if (seen.has(key)) continue;
        seen.add(key);
        this.edges.push([a, b]);
      }
    }
  }

  // Looking

  resize() {
    const ratio = devicePixelRatio || 1;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (!w || !h) return;
    this.canvas.width = Math.round(w * ratio);
    this.canvas.height = Math.round(h * ratio);
    if (this.size && this.isFitted) this.fit(); else this.draw();
  }

  fit() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (!w || !this.size) return;
    const k = Math.min(1.15, (w - 24) / this.size.w, (h - 24) / this.size.h);
    this.view = { k: Math.max(k, 0.02), x: Math.max(12, (w - this.size.w * k) / 2), y: Math.max(12, (h - this.size.h * k) / 2) };
    this.isFitted = true;
    this.draw();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const k = Math.min(4, Math.max(0.02, this.view.k * factor));
    const real = k / this.view.k;
    this.view = { k, x: x - (x - this.view.x) * real, y: y - (y - this.view.y) * real };
    this.isFitted = false;
    this.draw();
  }

  reveal(node) {
    for (let up = node.up; up; up = up.up) if (this.isFolded(up)) this.folded.set(up.unit, false);
    this.layout();
    const box = this.boxOf.get(node);
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const sx = box.x * this.view.k + this.view.x, sy = box.y * this.view.k + this.view.y;
    if (sx < 0 || sy < 0 || sx + box.w * this.view.k > w || sy + box.h * this.view.k > h || this.view.k < 0.35) {
      const k = Math.max(this.view.k, 0.7);
      this.view = { k, x: w / 2 - (box.x + box.w / 2) * k, y: h / 2 - (box.y + box.h / 2) * k };
      this.isFitted = false;
    }
    this.select(node);
  }

  select(node) { this.selected = node; this.draw(); this.showSelection(); }

  find(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return this.select(null);
    for (const node of this.work.nodes.values()) if (node.path && node.path.toLowerCase().includes(wanted)) return this.reveal(node);
  }

  // Drawing

  draw() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => { this.isDrawing = false; this.paint(); });
  }

  paint() {
    const context = this.canvas.getContext("2d");
    const ratio = devicePixelRatio || 1;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, w, h);
    const { x, y, k } = this.view;
    context.setTransform(ratio * k, 0, 0, ratio * k, ratio * x, ratio * y);
    const [left, top, right, bottom] = [-x / k, -y / k, (w - x) / k, (h - y) / k];
    const isSeen = (box) => box.x < right && box.x + box.w > left && box.y < bottom && box.y + box.h > top;
    const hasText = k > 0.42;
    for (const box of this.boxes) if (box.kind === "box" && isSeen(box)) this.paintBox(context, box, hasText);
    context.lineWidth = 1.4;
    context.strokeStyle = this.palette.muted;
    context.fillStyle = this.palette.muted;
    context.globalAlpha = 0.75;
    for (const [a, b] of this.edges) if (isSeen(a) || isSeen(b)) arrow(context, a, b);
    context.globalAlpha = 1;
    for (const box of this.boxes) {
      if (!isSeen(box) || box.kind === "box") continue;
      if (box.kind === "cell") this.paintCell(context, box); else this.paintCard(context, box, hasText);
    }
    const chosen = this.selected && this.boxOf.get(this.selected);
    if (chosen) {
      context.strokeStyle = this.palette.accent;
      context.lineWidth = Math.max(2.5, 2 / k);
      round(context, chosen.x - 3, chosen.y - 3, chosen.w + 6, chosen.h + 6, 8);
      context.stroke();
    }
  }

  paintBox(context, box, hasText) {
    context.fillStyle = this.palette.box;
    context.strokeStyle = this.palette.line;
    context.lineWidth = 1;
    round(context, box.x, box.y, box.w, box.h, 10);
    context.globalAlpha = 0.55;
    context.fill();
    context.globalAlpha = 1;
    context.stroke();
    if (!hasText) return;
    const { node } = box;
    context.fillStyle = this.palette.states[summary(node)] ?? this.palette.muted;
    context.beginPath();
    context.arc(box.x + 15, box.y + 15, 4, 0, 7);
    context.fill();
    context.fillStyle = this.palette.muted;
    context.font = "600 12px system-ui, sans-serif";
    const done = `${number((node.tally.succeeded || 0) + (node.tally.failed || 0) + (node.tally.cancelled || 0))}/${number(total(node))}`;
    const space = box.w - 34 - context.measureText(done).width - 12;
    context.fillText(cut(context, node.path ? last(node.path) : this.work.view?.name || "all", space), box.x + 25, box.y + 19);
    context.textAlign = "right";
    context.font = "12px system-ui, sans-serif";
    context.fillText(done, box.x + box.w - PAD, box.y + 19);
    context.textAlign = "left";
  }

  paintCell(context, box) {
    context.fillStyle = this.palette.states[summary(box.node)] ?? this.palette.muted;
    context.globalAlpha = quiet(box.node) ? 0.35 : 1;
    round(context, box.x, box.y, box.w, box.h, 3);
    context.fill();
    context.globalAlpha = 1;
  }

  paintCard(context, box, hasText) {
    const { node } = box, colour = this.palette.states[summary(node)] ?? this.palette.muted;
    context.fillStyle = this.palette.card;
    context.strokeStyle = this.palette.line;
    context.lineWidth = 1;
    round(context, box.x, box.y, box.w, box.h, 7);
    context.fill();
    context.stroke();
    context.fillStyle = colour;
    round(context, box.x, box.y, 5, box.h, [7, 0, 0, 7]);
    context.fill();
    if (!hasText) return;
    context.fillStyle = this.palette.ink;
    context.font = "600 12.5px system-ui, sans-serif";
    context.fillText(cut(context, last(node.path), box.w - 26), box.x + 14, box.y + 18);
    context.fillStyle = this.palette.muted;
    context.font = "11.5px system-ui, sans-serif";
    if (box.kind === "card") return context.fillText(cut(context, caption(node), box.w - 26), box.x + 14, box.y + 33);
    context.fillText(cut(context, `▸ ${node.kind} of ${number(total(node))}`, box.w - 26), box.x + 14, box.y + 33);
    let x = box.x + 14;
    const width = box.w - 28, all = Math.max(1, total(node));
    context.fillStyle = this.palette.line;
    context.fillRect(x, box.y + 41, width, 4);
    for (const state of ["succeeded", "failed", "cancelled", "running"]) {
      const part = ((node.tally[state] || 0) / all) * width;
      context.fillStyle = this.palette.states[state];
      context.fillRect(x, box.y + 41, part, 4);
      x += part;
    }
  }

  showSelection() {
    const node = this.selected;
    this.info.hidden = !node;
    if (!node) return;
    const facts = [];
    if (isGroup(node)) facts.push(`${number(total(node))} operations`);
    else facts.push(node.type);
    if (node.worker) facts.push(`on ${node.worker}`);
    if (node.attempts > 1) facts.push(`attempt ${node.attempts}`);
    if (node.startedAt) facts.push(node.finishedAt ? `took ${duration((Date.parse(node.finishedAt) - Date.parse(node.startedAt)) / 1000)}` : `since ${ago(node.startedAt)}`);
    replace(this.info, stateMark(summary(node)), h("strong", {}, node.path || this.work.view?.name || "all"), h("span", { class: "muted" }, facts.join(" · ")),
      h("span", { class: "spring" }),
      isGroup(node) && node !== this.work.root ? h("button", { type: "button", class: "quiet", onclick: () => this.toggle(node) }, this.isFolded(node) ? "Unfold" : "Fold") : null,
      node.path ? h("button", { type: "button", class: "quiet", onclick: () => this.onOpen(node) }, "Open") : null);
  }

  // Hands

  at(x, y) {
    const [gx, gy] = [(x - this.view.x) / this.view.k, (y - this.view.y) / this.view.k];
    for (let i = this.boxes.length - 1; i >= 0; i -= 1) {
      const box = this.boxes[i];
      if (gx >= box.x && gx <= box.x + box.w && gy >= box.y && gy <= box.y + box.h) return box;
    }
    return null;
  }

  listen() {
    const pointers = new Map();
    let moved = 0, spread = 0;
    const place = (event) => { const r = this.canvas.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, place(event));
      if (pointers.size === 1) moved = 0;
      spread = 0;
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      pointers.set(event.pointerId, now);
      if (pointers.size === 1) {
        const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
        moved += Math.abs(dx) + Math.abs(dy);
        if (moved > 4) { this.view = { ...this.view, x: this.view.x + dx, y: this.view.y + dy }; this.isFitted = false; this.draw(); }
      } else {
        const [a, b] = [...pointers.values()];
        const distance = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (spread) this.zoom(distance / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
        spread = distance;
        moved = 100;
      }
    });
    const up = (event) => {
      if (!pointers.delete(event.pointerId)) return;
      if (event.type === "pointerup" && pointers.size === 0 && moved <= 4) {
        const box = this.at(...place(event));
        if (box && box.node === this.selected && isGroup(box.node)) this.toggle(box.node); else this.select(box?.node ?? null);
      }
    };
    this.canvas.addEventListener("pointerup", up);
    this.canvas.addEventListener("pointercancel", up);
    this.canvas.addEventListener("dblclick", (event) => {
      const box = this.at(...place(event));
      if (box && !isGroup(box.node)) this.onOpen(box.node);
    });
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.03 : 0.0015)), ...place(event));
    }, { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const node = this.selected ?? this.work.root;
    // Nothing is there yet.
    if (!node) return;
    const side = (by) => { const all = node.up?.children ?? []; return all[all.indexOf(node) + by]; };
    const isOpen = isGroup(node) && !this.isFolded(node);
    const actions = {
      ArrowRight: () => (isOpen && node.children[0]) || side(1), ArrowDown: () => side(1) ?? (isOpen && node.children[0]),
      ArrowLeft: () => side(-1) ?? node.up, ArrowUp: () => node.up ?? side(-1),
    };
    if (event.key in actions) { const next = actions[event.key](); if (next) this.reveal(next); }
    else if (event.key === "Enter" && node.path) this.onOpen(node);
    else if (event.key === " ") this.toggle(node);
    else if (event.key === "+" || event.key === "=") this.zoom(1.3);
    else if (event.key === "-") this.zoom(1 / 1.3);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") this.select(null);
    else return;
    event.preventDefault();
  }
}

function legend() {
  const element = h("div", { class: "legend", "aria-hidden": "true" });
  append(element, ["queued", "running", "succeeded", "failed", "cancelled", "retrying", "paused"].map((name) => stateMark(name)));
  return element;
}

/** In rows, from left to right. */
function flow(items) {
  const area = items.reduce((sum, item) => sum + (item.w + 4) * (item.h + 4), 0);
  const limit = Math.max(Math.sqrt(area * 1.9), ...items.map((item) => item.w));
  let x = 0, y = 0, row = 0, w = 0;
  for (const item of items) {
    if (x > 0 && x + item.w > limit) { x = 0; y += row + 4; row = 0; }
    [item.dx, item.dy] = [x, y];
    x += item.w + 4;
    row = Math.max(row, item.h);
    w = Math.max(w, x - 4);
  }
  return { w, h: y + row };
}

/** In columns: what waits for something stands to the right of it. */
function columns(items) {
  const place = new Map(items.map((item) => [item.node, item]));
  const waits = new Map(items.map((item) => [item.node, new Set()]));
  // Also what is inside of a group waits, or is waited for.
  const top = (node, group) => { let found = node; while (found && found.up !== group) found = found.up; return found; };
  const group = items[0].node.up;
  const gather = (node, of) => {
    for (const dependency of node.dependencies) {
      const other = top(dependency, group);
      if (other && other !== of && place.has(other)) waits.get(of).add(other);
    }
    if (node.children.length <= 200) for (const child of node.children) gather(child, of);
  };
  for (const item of items) gather(item.node, item.node);
  const layers = new Map();
  const depth = (start) => {
    const open = [start];
    while (open.length) {
      const node = open[open.length - 1];
      if (layers.has(node)) { open.pop(); continue; }
      const missing = [...waits.get(node)].filter((one) => !layers.has(one) && !open.includes(one));
      if (missing.length) { open.push(...missing); continue; }
      layers.set(node, Math.max(0, ...[...waits.get(node)].map((one) => (layers.get(one) ?? -1) + 1)));
      open.pop();
    }
  };
  for (const item of items) depth(item.node);
  const list = [];
  for (const item of items) (list[layers.get(item.node)] ??= []).push(item);
  let x = 0, h = 0;
  const blocks = list.filter(Boolean).map((layer) => {
    // Where there are many, the block is somewhat wider than high.
    const sum = (side) => layer.reduce((all, item) => all + item[side] + GAP, 0);
    const rows = layer.length <= 8 ? layer.length : Math.ceil(Math.sqrt((layer.length * sum("w")) / (1.6 * sum("h"))));
    let column = 0, height = 0, width = 0;
    for (let start = 0; start < layer.length; start += rows) {
      const part = layer.slice(start, start + rows);
      let y = 0;
      for (const item of part) { [item.dx, item.dy] = [x + column, y]; y += item.h + GAP; }
      height = Math.max(height, y - GAP);
      const w = Math.max(...part.map((item) => item.w));
      column += w + GAP;
      width = column - GAP;
    }
    x += width + LAYER;
    h = Math.max(h, height);
    return { layer, height };
  });
  for (const { layer, height } of blocks) for (const item of layer) item.dy += (h - height) / 2;
  return { w: x - LAYER, h };
}

function caption(node) {
  if (node.state === "running" && node.progress) return `${Math.floor(node.progress.fraction * 100)} % ${node.progress.message ?? ""}`;
  if (node.startedAt && node.finishedAt) return `${node.state} · ${duration((Date.parse(node.finishedAt) - Date.parse(node.startedAt)) / 1000)}`;
  return `${node.state}${node.attempts > 1 ? ` · attempt ${node.attempts}` : ""} · ${node.type}`;
}

const last = (path) => path.slice(path.lastIndexOf("/") + 1);
const quiet = (node) => { const state = summary(node); return state === "blocked" || state === "queued"; };

function cut(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle; else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}

function round(context, x, y, w, h, radius) { context.beginPath(); context.roundRect(x, y, w, h, radius); }

function arrow(context, a, b) {
  const [x1, y1, x2, y2] = [a.x + a.w, a.y + a.h / 2, b.x - 2, b.y + b.h / 2];
  if (x2 < x1) return;
  const bend = Math.max(14, (x2 - x1) / 2);
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 5, y2);
  context.stroke();
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 7, y2 - 3.6);
  context.lineTo(x2 - 7, y2 + 3.6);
  context.fill();
}
