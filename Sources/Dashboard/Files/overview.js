// All submissions, the newest first.

import { append, h, replace, setText, state } from "./dom.js";
import { ago, ended, FINAL, number, pace, Rate } from "./format.js";

const STATES = ["all", "running", "failed", "succeeded", "cancelled"];

/** A bar of how many operations stand how. */
export function bar() {
  const parts = ["succeeded", "failed", "cancelled", "running"].map((name) => [name, h("i", { data: { state: name } })]);
  const element = h("div", { class: "bar", role: "progressbar", "aria-valuemin": "0", "aria-valuemax": "100" }, parts.map(([, part]) => part));
  return {
    element,
    show(counts) {
      for (const [name, part] of parts) part.style.flexGrow = String(counts[name] || 0);
      element.style.setProperty("--rest", String(Math.max(0, counts.pending)));
      const percent = counts.total ? Math.round((ended(counts) / counts.total) * 100) : 0;
      element.setAttribute("aria-valuenow", String(percent));
      element.setAttribute("aria-label", `${ended(counts)} of ${counts.total} operations have ended`);
    },
  };
}

export function overview(main, cluster) {
  const rows = new Map(), rates = new Map();
  let shown = "all";
  const summary = h("p", { class: "lead" });
  const list = h("ul", { class: "submissions" });
  const empty = h("div", { class: "empty", hidden: true },
    h("p", {}, "No submissions yet."), h("p", {}, "Hand one in: ", h("code", {}, "aop submit examples/word-count.yaml --wait")));
  const filter = h("div", { class: "tabs", role: "group", "aria-label": "Which submissions" },
    STATES.map((name) => h("button", {
      type: "button", "aria-pressed": String(name === shown), onclick(event) {
        shown = name;
        for (const one of filter.children) one.setAttribute("aria-pressed", String(one === event.currentTarget));
        update();
      },
    }, name)));
  append(main, [h("div", { class: "title" }, h("h1", {}, "Submissions"), summary), filter, list, empty]);

  function row(one) {
    const name = h("strong"), place = h("span", { class: "muted mono" }), mark = h("span"), count = h("span", { class: "count" });
    const speed = h("span", { class: "muted speed" }), when = h("span", { class: "muted" }), progress = bar();
    const link = h("a", { href: `#/s/${encodeURIComponent(one.id)}`, data: { id: one.id } },
      h("span", { class: "name" }, name, place), mark, progress.element, count, speed, when);
    let word = "";
    return {
      element: h("li", {}, link),
      show(one) {
        setText(name, one.name || "(no name)");
        setText(place, one.id);
        if (word !== one.state) { replace(mark, state(one.state)); word = one.state; }
        progress.show(one.counts);
        const failed = one.counts.failed ? ` · ${number(one.counts.failed)} failed` : "";
        setText(count, `${number(ended(one.counts))} / ${number(one.counts.total)}${failed}`);
        count.classList.toggle("bad", one.counts.failed > 0);
        setText(speed, pace(one, rates.get(one.id)));
        setText(when, ago(one.submittedAt));
      },
    };
  }

  function update() {
    const all = [...cluster.submissions.values()].sort((a, b) => (a.submittedAt < b.submittedAt ? 1 : a.submittedAt > b.submittedAt ? -1 : 0));
    const open = all.filter((one) => !FINAL.has(one.state)).length;
    const failed = all.filter((one) => one.state === "failed").length;
    setText(summary, all.length ? `${open} open · ${failed} failed · ${all.length} known` : "");
    const visible = all.filter((one) => shown === "all" || one.state === shown || (shown === "running" && !FINAL.has(one.state)));
    for (const [id, entry] of rows) if (!visible.some((one) => one.id === id)) { entry.element.remove(); rows.delete(id); }
    visible.forEach((one, index) => {
      let entry = rows.get(one.id);
      if (!entry) { entry = row(one); rows.set(one.id, entry); }
      entry.show(one);
      if (list.children[index] !== entry.element) list.insertBefore(entry.element, list.children[index] ?? null);
    });
    empty.hidden = !(cluster.isKnown && visible.length === 0);
    filter.hidden = all.length === 0;
  }

  const note = () => {
    for (const one of cluster.submissions.values()) {
      if (FINAL.has(one.state)) continue;
      if (!rates.has(one.id)) rates.set(one.id, new Rate());
      rates.get(one.id).note(ended(one.counts));
    }
  };
  const unlisten = cluster.listen((kind) => { if (kind === "submissions") { note(); update(); } });
  const timer = setInterval(update, 1000);
  note();
  update();
  return () => { unlisten(); clearInterval(timer); };
}
