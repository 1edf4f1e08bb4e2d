// One submission: its graph, its timeline, its operations, what failed, and what was written.

import { append, h, replace, setText, state, throttle } from "./dom.js";
import { get, stream, submissionPath } from "./api.js";
import { clock, duration, ended, FINAL, number, pace, Rate } from "./format.js";
import { bar } from "./overview.js";
import { actions } from "./actions.js";
import { Work } from "./work.js";
import { GraphView } from "./graph.js";
import { TimelineView } from "./timeline.js";
import { OperationList } from "./operations.js";
import { failures } from "./failures.js";
import { logView } from "./log.js";

const TABS = ["graph", "timeline", "operations", "failures", "log"];

export const operationLink = (id, path) => `#/s/${encodeURIComponent(id)}/op/${path.split("/").map(encodeURIComponent).join("/")}`;

export function submission(main, id, section, cluster) {
  const tab = TABS.includes(section) ? section : TABS[0];
  const work = new Work(id), rate = new Rate();
  const name = h("h1"), mark = h("span"), facts = h("p", { class: "lead" }), progress = bar(), counts = h("p", { class: "counts" });
  const steer = actions(id, "", (other) => { location.hash = `#/s/${encodeURIComponent(other)}`; });
  const failedBadge = h("span", { class: "badge bad", hidden: true });
  const place = (tab) => `#/s/${encodeURIComponent(id)}/${tab}`;
  const step = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    location.hash = place(TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length]);
  };
  const tabs = h("div", { class: "tabs", role: "tablist", onkeydown: step }, TABS.map((one) => h("a", {
    href: place(one), role: "tab", "aria-selected": String(one === tab),
  }, one[0].toUpperCase() + one.slice(1), one === "failures" ? failedBadge : null)));
  const body = h("section", { class: "pane", role: "tabpanel", "aria-label": tab });
  append(main, [
    h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Submissions"), " / ", h("span", { class: "mono" }, id)),
    h("div", { class: "title" }, h("div", {}, h("div", { class: "row" }, name, mark), facts), steer.element),
    progress.element, counts, tabs, body,
  ]);
  // On a phone the tabs are wider than the screen.
  const reveal = () => tabs.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  reveal();

  const open = (node) => { location.hash = operationLink(work.id, node.path); };
  let view = null;
  if (tab === "graph") view = new GraphView(work, open);
  else if (tab === "timeline") view = new TimelineView(work, open);
  else if (tab === "operations") view = new OperationList(work, open);
  else if (tab === "failures") view = failures(work, id);
  else view = { ...logView(id, ""), update() {} };
  append(body, [view.element]);

  let word = "", isClosed = false;
  function show(one) {
    work.view = one;
    document.title = `${one.name || one.id} · aop`;
    setText(name, one.name || one.id);
    if (word !== one.state) { replace(mark, state(one.state)); word = one.state; steer.show(one.state); }
    rate.note(ended(one.counts));
    const parts = [`submitted ${clock(one.submittedAt)}`, FINAL.has(one.state) ? `took ${duration(one.duration)}` : pace(one, rate)];
    if (one.principal) parts.push(`of ${one.principal}`);
    if (one.cancelReason) parts.push(`cancelled: ${one.cancelReason}`);
    setText(facts, parts.join(" · "));
    progress.show(one.counts);
    replace(counts, ["succeeded", "failed", "cancelled", "running", "pending"].filter((key) => one.counts[key] > 0 || key === "succeeded")
      .map((key) => h("span", { data: { state: key } }, h("b", {}, number(one.counts[key])), ` ${key}`)), h("span", { class: "muted" }, `of ${number(one.counts.total)}`));
    const failed = one.counts.failed ? String(one.counts.failed) : "";
    if (failed === failedBadge.textContent) return;
    failedBadge.hidden = !failed;
    setText(failedBadge, failed);
    reveal();
  }

  const update = throttle(100, () => { if (!isClosed) view.update(); });
  let isLoading = false, mustReload = false, pending = [];
  async function load() {
    if (tab === "log") return;
    if (isLoading) { mustReload = true; return; }
    isLoading = true;
    try {
      await work.load();
      // What came meanwhile may be older or newer than what was fetched; the newest counts.
      work.apply(pending);
      pending = [];
      update();
    } catch (error) {
      if (!isClosed) replace(body, h("p", { class: "empty bad" }, error.message));
    } finally {
      isLoading = false;
    }
    if (mustReload && !isClosed) { mustReload = false; reload(); }
  }
  const reload = throttle(1500, load);

  const endStream = stream(`${submissionPath(id)}/events`, {}, {
    submission(one) { show(one); load(); },
    operations({ operations, submission: one }) {
      show(one);
      if (isLoading) pending.push(...operations);
      else if (work.root && work.apply(operations)) reload();
      update();
    },
    end(one) { show(one); load(); },
    failure(error) { replace(body, h("p", { class: "empty bad" }, error.message)); },
  });
  const timer = setInterval(() => { if (work.view && !FINAL.has(work.view.state)) show(work.view); }, 1000);
  get(submissionPath(id)).then((one) => { if (!isClosed && !work.view) show(one); }, () => { /* the stream says it */ });
  return () => { isClosed = true; endStream(); clearInterval(timer); view.close?.(); };
}
