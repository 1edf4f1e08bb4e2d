// What failed, and why.

import { h, replace, throttle } from "./dom.js";
import { get, submissionPath } from "./api.js";
import { operationLink } from "./submission.js";

/** One failure with what is known of it. */
export function failure(id, error) {
  const facts = [error.code];
  if (error.host) facts.push(`on ${error.host}`);
  if (error.exitCode !== undefined) facts.push(`exit code ${error.exitCode}`);
  if (error.signal !== undefined) facts.push(`signal ${error.signal}`);
  return h("article", { class: "failure" },
    h("h3", {}, h("a", { href: operationLink(id, error.path) }, error.path)),
    h("p", {}, error.message),
    h("p", { class: "muted small" }, facts.join(" · ")),
    error.origin ? h("p", { class: "small" }, "Born in ", h("a", { href: operationLink(id, error.origin) }, error.origin)) : null,
    error.stderr ? h("details", { open: true }, h("summary", {}, "End of stderr"), h("pre", { class: "log" }, error.stderr)) : null);
}

export function failures(work, id) {
  const list = h("div", { class: "failures" }), note = h("p", { class: "empty" }, "Nothing has failed.");
  const element = h("div", {}, list, note);
  let shown = -1;
  const load = throttle(800, async () => {
    try {
      const { errors } = await get(submissionPath(id), { operations: "failed" });
      replace(list, errors.slice(0, 200).map((error) => failure(id, error)));
      note.hidden = errors.length > 0 && errors.length <= 200;
      if (errors.length > 200) note.textContent = `${errors.length - 200} more; the list of operations has all of them.`;
    } catch (error) {
      note.hidden = false;
      note.textContent = error.message;
    }
  });
  return {
    element,
    update() {
      const count = work.view?.counts.failed ?? 0;
      if (count === shown) return;
      shown = count;
      if (count > 0) load();
    },
  };
}
