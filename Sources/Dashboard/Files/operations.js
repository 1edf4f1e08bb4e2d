// All operations as a list: only the rows that are seen are there.

import { h, replace, state } from "./dom.js";
import { duration, number } from "./format.js";

const ROW = 34;

export class OperationList {
  constructor(work, onOpen) {
    this.work = work;
    this.onOpen = onOpen;
    this.text = h("input", { type: "search", placeholder: "Filter by path, type or worker", "aria-label": "Filter", oninput: () => this.update() });
    this.choice = h("select", { "aria-label": "State", onchange: () => this.update() },
      ["any state", "running", "queued", "blocked", "locking", "evaluating", "retrying", "paused", "failed", "cancelled", "succeeded"].map((one) => h("option", {}, one)));
    this.count = h("span", { class: "muted" });
    this.space = h("div", { class: "rows-space" });
    this.rows = h("div", { class: "rows", tabindex: "0", role: "list", "aria-label": "Operations", onscroll: () => this.paint() }, this.space);
    this.empty = h("p", { class: "empty", hidden: true }, "No operation is like that.");
    this.element = h("div", { class: "operations" }, h("div", { class: "row tools" }, this.text, this.choice, this.count), this.rows, this.empty);
    this.observer = new ResizeObserver(() => this.paint());
    this.observer.observe(this.rows);
    this.found = [];
  }

  close() { this.observer.disconnect(); }

  update() {
    const text = this.text.value.trim().toLowerCase(), word = this.choice.selectedIndex === 0 ? "" : this.choice.value;
    this.found = this.work.operations.filter((node) => (!word || node.state === word)
      && (!text || node.path.toLowerCase().includes(text) || node.type.toLowerCase().includes(text) || (node.worker ?? "").toLowerCase().includes(text)));
    this.count.textContent = `${number(this.found.length)} of ${number(this.work.operations.length)}`;
    this.empty.hidden = this.found.length > 0 || !this.work.root;
    this.space.style.height = `${this.found.length * ROW}px`;
    this.paint();
  }

  paint() {
    const first = Math.max(0, Math.floor(this.rows.scrollTop / ROW) - 5);
    const last = Math.min(this.found.length, first + Math.ceil(this.rows.clientHeight / ROW) + 10);
    const focused = document.activeElement?.dataset?.unit;
    replace(this.space, this.found.slice(first, last).map((node, index) => {
      const end = node.finishedAt ? Date.parse(node.finishedAt) : Date.now();
      const row = h("a", { class: "op-row", role: "listitem", href: "#", data: { unit: node.unit }, onclick: (event) => { event.preventDefault(); this.onOpen(node); } },
        h("span", { class: "path" }, node.path), state(node.state), h("span", { class: "muted wide" }, node.type),
        h("span", { class: "muted wide" }, node.worker ?? "–"), h("span", { class: "muted num" }, node.startedAt ? duration((end - Date.parse(node.startedAt)) / 1000) : "–"));
      row.style.top = `${(first + index) * ROW}px`;
      return row;
    }));
    if (focused) this.space.querySelector(`[data-unit="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
}
