// Workers and locks.

import { append, h, replace } from "./dom.js";
import { ago, bytes, clock } from "./format.js";
import { operationLink } from "./submission.js";

function reference(text) {
  const slash = text.indexOf("/");
  const [id, path] = slash < 0 ? [text, ""] : [text.slice(0, slash), text.slice(slash + 1)];
  return h("a", { href: path ? operationLink(id, path) : `#/s/${encodeURIComponent(id)}` }, h("span", { class: "mono" }, id), path ? ` ${path}` : "");
}

function slots(worker) {
  const count = Math.min(worker.slots, 32);
  return h("span", { class: "slots", role: "img", "aria-label": `${worker.running} of ${worker.slots} slots are taken` },
    Array.from({ length: count }, (_, index) => h("i", { class: index < (worker.running / worker.slots) * count ? "taken" : "" })));
}

/** The colours of what happens to workers. */
const EVENTS = { joined: "succeeded", back: "succeeded", resumed: "succeeded", lost: "failed" };

export function workers(main, cluster) {
  const lead = h("p", { class: "lead" }), list = h("div", { class: "cards" }), events = h("ul", { class: "plain small" });
  const lately = h("section", { class: "part", "aria-label": "What happened to workers" }, h("h2", {}, "Lately"), events);
  append(main, [h("div", { class: "title" }, h("h1", {}, "Workers"), lead), list, lately]);
  function update() {
    const all = cluster.workers;
    lately.hidden = !cluster.workerEvents.length;
    replace(events, cluster.workerEvents.map((one) => h("li", {}, h("span", { class: "muted" }, `${clock(one.at)} `), h("span", { class: "state", data: { state: EVENTS[one.event] ?? "paused" } }, h("i", { "aria-hidden": "true" }), one.event), ` ${one.worker}`, one.text ? h("span", { class: "muted" }, `: ${one.text}`) : null)));
    if (!all) return replace(list, h("p", { class: "empty" }, "Loading…"));
    const attached = all.filter((one) => one.state === "attached");
    const total = attached.reduce((sum, one) => sum + one.slots, 0), running = attached.reduce((sum, one) => sum + one.running, 0);
    lead.textContent = all.length ? `${attached.length} attached · ${running} of ${total} slots taken` : "";
    if (!all.length) return replace(list, h("div", { class: "empty" }, h("p", {}, "No worker is there: what is submitted waits."), h("p", {}, "Start one: ", h("code", {}, "aop worker"))));
    replace(list, [...all].sort((a, b) => a.id.localeCompare(b.id, "en", { numeric: true })).map((one) => h("article", { class: "card" },
      h("div", { class: "row" }, h("h2", {}, one.id), h("span", { class: "state", data: { state: one.state === "attached" ? "succeeded" : ["draining", "drained"].includes(one.state) ? "paused" : "failed" } }, h("i", { "aria-hidden": "true" }), one.state)),
      h("div", { class: "row" }, slots(one), h("span", { class: "muted" }, `${one.running} of ${one.slots} slots`)),
      h("p", { class: "muted small" }, `${one.host} · process ${one.pid}`),
      one.drain ? h("p", { class: "small" }, `drained since ${ago(one.drain.since)}${one.drain.by ? ` by ${one.drain.by}` : ""}${one.drain.reason ? `: ${one.drain.reason}` : ""}`) : null,
      one.labels.length ? h("p", { class: "small" }, one.labels.map((label) => h("span", { class: "tag" }, label))) : null,
      Object.entries(one.resources).map(([name, { amount, taken }]) => h("p", { class: "small" }, name === "memory" ? `${name}: ${bytes(taken)} of ${bytes(amount)}` : `${name}: ${taken} of ${amount}`)),
      h("details", {}, h("summary", { class: "small muted" }, `${one.operations.length} operations`), h("p", { class: "small" }, one.operations.join(", "))))));
  }
  update();
  return cluster.listen((kind) => { if (kind === "workers") update(); });
}

export function locks(main, cluster) {
  const list = h("div", { class: "cards wide" });
  append(main, [h("div", { class: "title" }, h("h1", {}, "Locks")), list]);
  function update() {
    const all = cluster.locks;
    if (!all) return replace(list, h("p", { class: "empty" }, "Loading…"));
    if (!all.length) return replace(list, h("div", { class: "empty" }, h("p", {}, "Nobody holds a lock or waits for one."), h("p", { class: "muted" }, "Operations with ", h("code", {}, "exclusive"), " are shown here.")));
    replace(list, [...all].sort((a, b) => a.key.localeCompare(b.key)).map((one) => h("article", { class: "card" },
      h("div", { class: "row" }, h("h2", { class: "mono" }, one.key), one.scope ? h("span", { class: "muted small" }, `inside ${one.scope}`) : null, h("span", { class: "spring" }),
        h("span", { class: "muted small" }, `${one.holderCount} of ${one.limit >= 2147483647 ? "any number" : one.limit} · ${one.waitingCount} in line`)),
      h("ul", { class: "plain" }, one.holders.map((holder) => h("li", {}, h("span", { class: "state", data: { state: "running" } }, h("i", { "aria-hidden": "true" }), "holds"), " ", reference(holder.operation), h("span", { class: "muted small" }, ` ${holder.worker ?? ""} · since ${ago(holder.since)}${holder.token ? ` · token ${holder.token}` : ""}`)))),
      one.waiting.length ? h("ol", { class: "plain line" }, one.waiting.map((waiter) => h("li", {}, reference(waiter.operation), h("span", { class: "muted small" }, ` waits since ${ago(waiter.since)}`)))) : null,
      one.waitingCount > one.waiting.length ? h("p", { class: "muted small" }, `and ${one.waitingCount - one.waiting.length} more`) : null)));
  }
  update();
  const timer = setInterval(update, 5000);
  const unlisten = cluster.listen((kind) => { if (kind === "locks") update(); });
  return () => { unlisten(); clearInterval(timer); };
}
