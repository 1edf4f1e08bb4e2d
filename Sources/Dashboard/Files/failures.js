// What failed, and why: one entry for each cause, whatever number of operations ended with it.

import { h, replace, throttle } from "./dom.js";
import { get, submissionPath } from "./api.js";
import { number } from "./format.js";
import { operationLink } from "./submission.js";
import { isGroup } from "./work.js";

/** Entries that are shown, and operations of one of them. */
const CAUSES = 200, NAMED = 200;
/** Failed operations and groups, as long as there are none. */
const NOTHING = "0 0";

function facts(error, hosts) {
  const known = [error.code];
  if (hosts.length) known.push(`on ${hosts.slice(0, 4).join(", ")}${hosts.length > 4 ? ` and ${hosts.length - 4} more` : ""}`);
  if (error.exitCode !== undefined) known.push(`exit code ${error.exitCode}`);
  if (error.signal !== undefined) known.push(`signal ${error.signal}`);
  return known.join(" · ");
}

const link = (id, path) => (path ? h("a", { href: operationLink(id, path) }, path) : h("a", { href: `#/s/${encodeURIComponent(id)}` }, "the submission"));
const stderr = (error) => (error.stderr ? h("details", { open: true }, h("summary", {}, "End of stderr"), h("pre", { class: "log" }, error.stderr)) : null);

/** One failure with what is known of it. */
export function failure(id, error) {
  return h("article", { class: "failure" },
    h("h3", {}, link(id, error.path)),
    h("p", {}, error.message),
    h("p", { class: "muted small" }, facts(error, error.host ? [error.host] : [])),
    error.origin ? h("p", { class: "small" }, "Born in ", link(id, error.origin)) : null,
    stderr(error));
}

/** What makes failures the same: their texts, wherever that was. */
function cause(error) {
  const text = error.host ? error.message.replace(` on ${error.host}`, "") : error.message;
  return JSON.stringify([error.code, error.exitCode, error.signal, text, error.stderr]);
}

/** Several failures of one cause. */
function group(id, errors, isOpen) {
  // Where it was born, rather than where it went.
  const first = errors.find((error) => !error.origin) ?? errors[0], begins = first.origin ?? first.path;
  const hosts = [...new Set(errors.map((error) => error.host).filter(Boolean))].sort();
  const text = hosts.length > 1 ? first.message.replace(` on ${first.host}`, "") : first.message;
  return h("article", { class: "failure" },
    h("div", { class: "row" }, h("h3", {}, link(id, begins)), h("span", { class: "badge bad" }, `${number(errors.length)} operations`)),
    h("p", {}, text),
    h("p", { class: "muted small" }, facts(first, hosts)),
    stderr(first),
    h("details", { class: "same", open: isOpen, data: { cause: cause(first) } }, h("summary", {}, `All ${number(errors.length)} that ended with it`),
      h("ul", { class: "plain small" }, errors.slice(0, NAMED).map((error) => h("li", {}, link(id, error.path),
        error.origin ? h("span", { class: "muted" }, ` from ${error.origin}`) : error.host && hosts.length > 1 ? h("span", { class: "muted" }, ` on ${error.host}`) : null))),
      errors.length > NAMED ? h("p", { class: "muted small" }, `and ${number(errors.length - NAMED)} more; the list of operations has all of them.`) : null));
}

export function failures(work, id) {
  const list = h("div", { class: "failures" }), note = h("p", { class: "empty" }, "Nothing has failed.");
  const element = h("div", {}, list, note);
  let shown = NOTHING;
  const load = throttle(800, async () => {
    try {
      const { errors } = await get(submissionPath(id), { operations: "failed" });
      const causes = new Map();
      for (const error of errors) {
        const key = cause(error);
        if (causes.has(key)) causes.get(key).push(error); else causes.set(key, [error]);
      }
      const open = new Set([...list.querySelectorAll("details.same[open]")].map((one) => one.dataset.cause));
      const all = [...causes];
      replace(list, all.slice(0, CAUSES).map(([key, one]) => (one.length === 1 ? failure(id, one[0]) : group(id, one, open.has(key)))));
      note.hidden = all.length > 0 && all.length <= CAUSES;
      if (all.length > CAUSES) note.textContent = `${number(all.length - CAUSES)} more causes; the list of operations has all of them.`;
    } catch (error) {
      note.hidden = false;
      note.textContent = error.message;
    }
  });
  return {
    element,
    update() {
      // Of groups that failed by themselves no count tells.
      let groups = 0;
      for (const node of work.nodes.values()) if (node.state === "failed" && isGroup(node)) groups += 1;
      const known = `${work.view?.counts.failed ?? 0} ${groups}`;
      if (known === shown) return;
      shown = known;
      if (known !== NOTHING) load();
    },
  };
}
