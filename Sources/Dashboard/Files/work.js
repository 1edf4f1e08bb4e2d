// One submission as the dashboard knows it: its operations and groups, how they hang together, and how they stand.

import { get, submissionPath } from "./api.js";
import { FINAL } from "./format.js";

const BEGUN = new Set(["running", "stopping"]);

export const isGroup = (node) => node.kind !== "operation" && node.kind !== "decisions";

export class Work {
  constructor(id) {
    this.id = id;
    this.view = null;
    this.nodes = new Map();
    this.byPath = new Map();
    this.root = null;
    /** Rises with each change of what there is, not of how it stands. */
    this.shape = 0;
  }

  /** Fetches everything. What happens meanwhile comes with the stream's events after it. */
  async load() {
    const path = submissionPath(this.id);
    const operations = [];
    for (let from = 0; ;) {
      const page = await get(`${path}/operations`, { brief: true, from });
      operations.push(...page.operations);
      if (page.next === null) break;
      from = page.next;
    }
    const edges = [];
    for (let from = 0; ;) {
      const page = await get(`${path}/edges`, { from });
      edges.push(...page.edges);
      if (page.next === null) break;
      from = page.next;
    }
    this.build(operations, edges);
  }

  build(operations, edges) {
    this.nodes = new Map();
    this.byPath = new Map();
    for (const one of operations) {
      const node = { ...one, children: [], dependencies: [], tally: null, up: null };
      this.nodes.set(node.unit, node);
      this.byPath.set(node.path, node);
    }
    this.root = this.nodes.get(0) ?? null;
    for (const node of this.nodes.values()) {
      if (node.unit === 0) continue;
      node.up = this.nodes.get(node.parent) ?? this.root;
      node.up.children.push(node);
    }
    for (const node of this.nodes.values()) node.children.sort((a, b) => a.position - b.position || a.unit - b.unit);
    for (const { unit, dependencies } of edges) {
      const node = this.nodes.get(unit);
      if (node) node.dependencies = dependencies.map((one) => this.nodes.get(one)).filter(Boolean);
    }
    for (const node of this.nodes.values()) if (isGroup(node)) node.tally = {};
    for (const node of this.nodes.values()) if (!isGroup(node)) this.count(node, node.state, 1);
    this.shape += 1;
  }

  /** Counts an operation in all groups around it. */
  count(node, state, by) {
    for (let group = node.up; group; group = group.up) {
      if (group.tally) group.tally[state] = (group.tally[state] || 0) + by;
    }
  }

  /** @returns whether something is there that is not known: load again. */
  apply(events) {
    let isStrange = false;
    for (const event of events) {
      const node = this.nodes.get(event.unit);
      if (!node) { isStrange = true; continue; }
      // An attempt is over, of which events do not say how.
      if (BEGUN.has(node.state) && !BEGUN.has(event.state) && event.state !== "retrying" && !FINAL.has(event.state) && !isGroup(node)) isStrange = true;
      if (node.state !== event.state) {
        if (!isGroup(node)) { this.count(node, node.state, -1); this.count(node, event.state, 1); }
        node.state = event.state;
      }
      if (event.state === "retrying" && event.startedAt && !isGroup(node)) {
        const earlier = node.earlierAttempts ??= [];
        if (earlier.at(-1)?.attempt !== event.attempts) earlier.push({ attempt: event.attempts, worker: node.worker, startedAt: event.startedAt, finishedAt: event.at, ended: "failed", text: event.errors?.[0]?.message ?? null });
      }
      node.worker = event.worker || node.worker;
      node.attempts = event.attempts;
      node.startedAt = event.startedAt || node.startedAt;
      node.finishedAt = FINAL.has(event.state) ? event.at : null;
      if (event.progress) node.progress = event.progress;
      if (isGroup(node) && event.state === "running" && node.children.length === 0) isStrange = true;
    }
    return isStrange;
  }

  get operations() { return [...this.nodes.values()].filter((node) => !isGroup(node)); }
}

/** The state that a folded group is shown with. */
export function summary(node) {
  if (!isGroup(node)) return node.state;
  const tally = node.tally || {};
  if (FINAL.has(node.state)) return node.state;
  for (const state of ["running", "stopping", "retrying", "locking", "evaluating", "queued", "paused"]) if (tally[state]) return state;
  return node.state;
}

export function total(node) { return Object.values(node.tally || {}).reduce((sum, count) => sum + count, 0); }
