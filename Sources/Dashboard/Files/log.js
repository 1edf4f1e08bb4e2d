// What operations write, as they write it. Long logs keep their end.

import { h } from "./dom.js";
import { stream, submissionPath } from "./api.js";

const LINES = 5000;

/** @returns {{element, close}} of one operation, or of all of them with their paths before the lines. */
export function logView(id, path) {
  const lines = h("pre", { class: "log", tabindex: "0", role: "log", "aria-label": path ? `What ${path} writes` : "What operations write" });
  const note = h("p", { class: "muted small", role: "status" }, "Nothing has been written yet.");
  const open = new Map();
  let dropped = 0, any = false;
  function line(record, text) {
    const element = h("span", { class: record.stream === "stdout" ? "" : record.stream }, path ? null : h("b", {}, `${record.path}  `), text, "\n");
    lines.append(element);
    while (lines.childNodes.length > LINES) { lines.firstChild.remove(); dropped += 1; }
    return element;
  }
  function take({ records }) {
    const isAtEnd = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 40;
    for (const record of records) {
      const key = `${record.path}\n${record.attempt}\n${record.stream}`;
      const parts = record.text.split("\n");
      // A line that was begun goes on.
      const begun = open.get(key);
      if (begun) {
        begun.remove();
        parts[0] = begun.dataset.text + parts[0];
        open.delete(key);
      }
      const rest = parts.pop();
      for (const part of parts) line(record, part);
      if (rest) {
        const element = line(record, rest);
        element.dataset.text = rest;
        open.set(key, element);
      }
      any = true;
    }
    note.textContent = dropped ? `The first ${dropped} lines are not shown; aop logs has them.` : "";
    if (isAtEnd) lines.scrollTop = lines.scrollHeight;
  }
  const close = stream(`${submissionPath(id)}/logs/events`, path ? { path } : {}, {
    output: take,
    end() { if (!any) note.textContent = "Nothing was written."; },
    failure(error) { note.textContent = error.message; },
  });
  return { element: h("div", {}, lines, note), close };
}
