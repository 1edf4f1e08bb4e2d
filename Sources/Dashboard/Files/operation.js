// One operation or group: how it stands, what is in its way or led to its end, what it wrote.

import { append, h, replace, state, throttle } from "./dom.js";
import { get, stream, submissionPath } from "./api.js";
import { clock, duration, FINAL } from "./format.js";
import { actions } from "./actions.js";
import { failure } from "./failures.js";
import { logView } from "./log.js";
import { operationLink } from "./submission.js";

/** `7fk2abcdef/build/x` as a link, wherever it comes from. */
function reference(text) {
  const slash = text.indexOf("/");
  if (slash < 0) return h("a", { href: `#/s/${encodeURIComponent(text)}` }, text);
  return h("a", { href: operationLink(text.slice(0, slash), text.slice(slash + 1)) }, text.slice(slash + 1));
}

function section(title, ...content) {
  const shown = content.flat(Infinity).filter(Boolean);
  return shown.length ? h("section", { class: "part" }, h("h2", {}, title), shown) : null;
}

export function operation(main, id, path) {
  const mark = h("span"), facts = h("dl", { class: "facts" }), meter = h("div", { class: "meter", hidden: true }), parts = h("div");
  const steer = actions(id, path);
  const up = path.split("/").slice(0, -1);
  append(main, [
    h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Submissions"), " / ", h("a", { class: "mono", href: `#/s/${encodeURIComponent(id)}` }, id),
      up.map((part, index) => [" / ", h("a", { href: operationLink(id, up.slice(0, index + 1).join("/")) }, part)])),
    h("div", { class: "title" }, h("div", { class: "row" }, h("h1", {}, path.split("/").at(-1)), mark), steer.element),
    meter, facts, parts,
    h("section", { class: "part" }, h("h2", {}, "Log")),
  ]);
  const log = logView(id, path);
  main.lastElementChild.append(log.element);
  document.title = `${path} · aop`;
  let isClosed = false;

  function show({ operation: one, explain }) {
    replace(mark, state(one.state));
    // It may be paused itself before it has its turn, and what pauses it is to be taken back here.
    steer.show(explain.blockers.some((blocker) => blocker.kind === "paused" && blocker.operation === `${explain.id}/${path}`) ? "paused" : one.state);
    const end = one.finishedAt ? Date.parse(one.finishedAt) : Date.now();
    const rows = [
      ["Type", one.type], ["Worker", one.worker ?? "–"], ["Attempts", one.attempts],
      ["Could begin", clock(one.queuedAt)], ["Began", clock(one.startedAt)],
      [FINAL.has(one.state) ? "Took" : "Runs for", one.startedAt ? duration((end - Date.parse(one.startedAt)) / 1000) : "–"],
    ];
    if (one.retryAt) rows.push(["Next attempt", clock(one.retryAt)]);
    if (one.uniqueId) rows.push(["Unique id", one.uniqueId]);
    if (one.priority) rows.push(["Priority", one.priority]);
    if (one.crashes) rows.push(["Processes lost", `${one.crashes} of ${one.crashLimit}`]);
    replace(facts, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    meter.hidden = !one.progress;
    if (one.progress) {
      const fill = h("i");
      fill.style.width = `${Math.round(one.progress.fraction * 100)}%`;
      replace(meter, h("div", { class: "track", role: "progressbar", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": String(Math.round(one.progress.fraction * 100)), "aria-label": "Progress" }, fill),
        h("span", {}, `${Math.floor(one.progress.fraction * 100)} %${one.progress.message ? ` · ${one.progress.message}` : ""}`));
    }
    replace(parts,
      section("In its way", explain.blockers.map((blocker) => h("article", { class: "blocker" },
        h("p", {}, h("span", { class: "tag" }, blocker.kind), " ", blocker.text),
        blocker.operation ? h("p", { class: "small" }, "It waits for ", reference(blocker.operation)) : null,
        blocker.remedy ? h("p", { class: "small muted" }, blocker.remedy) : null)),
        explain.moreBlockers ? h("p", { class: "muted" }, `and ${explain.moreBlockers} more`) : null),
      section("What in it waits", explain.waiting.map((group) => h("p", {}, h("span", { class: "tag" }, group.kind), ` ${group.count} × ${group.text}`))),
      section("Why", explain.causes.map((cause) => h("article", { class: "blocker" }, h("p", {}, h("span", { class: "tag" }, cause.link), " ", reference(cause.operation)), h("p", { class: "small" }, cause.text)))),
      section("Errors", one.errors.map((error) => failure(id, error)), one.lastError && !one.errors.length ? failure(id, one.lastError) : null),
      section("Earlier attempts", one.earlierAttempts?.length ? h("ol", { class: "history" }, one.earlierAttempts.map((attempt) => h("li", {}, h("time", { datetime: attempt.startedAt }, clock(attempt.startedAt)), h("span", { class: "tag" }, attempt.ended), h("span", {}, `attempt ${attempt.attempt} on ${attempt.worker ?? "–"}, ${duration((Date.parse(attempt.finishedAt) - Date.parse(attempt.startedAt)) / 1000)}${attempt.text ? `: ${attempt.text}` : ""}`)))) : null),
      section("Conditions", one.conditions.map((condition) => h("p", {}, h("span", { class: "tag" }, condition.verdict), ` ${condition.condition}`, h("span", { class: "muted" }, ` ${condition.reason ?? ""} · ${condition.evaluator} · ${clock(condition.at)}`)))),
      section("Locks", one.locks.map((lock) => h("p", {}, h("span", { class: "mono" }, lock.key), " held by ", lock.holders.map((holder, index) => [index ? ", " : "", reference(holder.operation)])))),
      section("History", explain.history.length ? h("ol", { class: "history" }, explain.history.map((entry) => h("li", {}, h("time", { datetime: entry.at ?? "" }, clock(entry.at)), h("span", { class: "tag" }, entry.event), h("span", {}, entry.text)))) : null));
  }

  const load = throttle(300, async () => {
    try {
      const answer = await get(`${submissionPath(id)}/operation`, { path });
      if (!isClosed) show(answer);
    } catch (error) {
      if (!isClosed) replace(parts, h("p", { class: "empty bad" }, error.message));
    }
  });
  load();
  const endStream = stream(`${submissionPath(id)}/events`, {}, {
    submission() { load(); },
    operations({ operations }) {
      // What others do may be what it waits for.
      if (operations.some((event) => event.path === path || event.state !== "running" || event.group)) load();
    },
    end() { load(); },
  });
  return () => { isClosed = true; endStream(); log.close(); };
}
