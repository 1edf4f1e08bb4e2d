// What is shown where: the address after # names a page.

import { h, replace, setText, toast } from "./dom.js";
import { stream, token, whenRefused } from "./api.js";
import { overview } from "./overview.js";
import { submission } from "./submission.js";
import { operation } from "./operation.js";
import { locks, workers } from "./cluster.js";

const main = document.getElementById("main");
let leave = () => {};

/** What is known of the cluster, kept up to date by its stream of events. */
export const cluster = {
  submissions: new Map(), workers: null, locks: null,
  /** What happened to workers, the last first. */
  workerEvents: [],
  listeners: new Set(),
  listen(f) { this.listeners.add(f); return () => this.listeners.delete(f); },
  tell(kind) { for (const f of this.listeners) f(kind); },
};

/** A part of the address, as it is where it is no encoding of a text. */
function decoded(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

function route() {
  leave();
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  const section = parts[0] === "workers" || parts[0] === "locks" ? parts[0] : "submissions";
  for (const link of document.querySelectorAll("nav [data-section]")) {
    if (link.dataset.section === section) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  replace(main);
  document.title = "aop";
  if (parts[0] === "s" && parts[1] && parts[2] === "op" && parts[3]) leave = operation(main, parts[1], parts.slice(3).join("/"), cluster);
  else if (parts[0] === "s" && parts[1]) leave = submission(main, parts[1], parts[2] || "graph", cluster);
  else if (parts[0] === "workers") leave = workers(main, cluster);
  else if (parts[0] === "locks") leave = locks(main, cluster);
  else leave = overview(main, cluster);
}

const live = document.getElementById("live");
function showStatus(status) {
  live.dataset.status = status;
  setText(live.querySelector("span"), status === "live" ? "live" : "reconnecting");
}

function badge(id, count) {
  const element = document.getElementById(id);
  element.hidden = !count;
  setText(element, String(count));
}

let endStream = () => {};
function follow() {
  endStream();
  let isFirst = true;
  endStream = stream("/events", {}, {
    status: showStatus,
    submissions({ submissions, removed }) {
      if (isFirst) cluster.submissions.clear();
      isFirst = false;
      for (const one of submissions) cluster.submissions.set(one.id, one);
      for (const id of removed) cluster.submissions.delete(id);
      cluster.isKnown = true;
      cluster.tell("submissions");
    },
    workers({ workers: all }) {
      cluster.workers = all;
      badge("worker-count", all.filter((one) => one.state === "attached").length);
      cluster.tell("workers");
    },
    workerEvents({ events }) {
      // A stream that begins anew tells them again.
      const key = (one) => `${one.at} ${one.worker} ${one.event}`, known = new Set(cluster.workerEvents.map(key));
      cluster.workerEvents = [...events.filter((one) => !known.has(key(one))).reverse(), ...cluster.workerEvents].slice(0, 50);
      cluster.tell("workers");
    },
    locks({ locks: all }) {
      cluster.locks = all;
      badge("lock-count", all.length);
      cluster.tell("locks");
    },
  });
}

const dialog = document.getElementById("token-dialog");
const input = document.getElementById("token-input");
const button = document.getElementById("token-button");
const text = document.getElementById("token-text");
const standard = [...text.childNodes].map((node) => node.cloneNode(true));

function showToken() {
  setText(button, token.get() ? "Token ✓" : "Token");
  button.setAttribute("aria-label", token.get() ? "Token: set" : "Token: none");
}

function askForToken(message) {
  text.replaceChildren(...(message ? [document.createTextNode(message)] : standard.map((node) => node.cloneNode(true))));
  input.value = "";
  if (!dialog.open) dialog.showModal();
  input.focus();
}

button.addEventListener("click", () => askForToken());
document.getElementById("token-cancel").addEventListener("click", () => dialog.close());
document.getElementById("token-forget").addEventListener("click", () => { token.set(""); showToken(); dialog.close(); });
document.getElementById("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!input.value.trim()) return input.focus();
  token.set(input.value.trim());
  showToken();
  dialog.close();
  follow();
  route();
});
whenRefused(() => {
  const had = token.get();
  // What was asked with the same token at the same time is refused as well.
  if (!had && dialog.open) return;
  if (had) { token.set(""); showToken(); toast("That token was not the right one.", "bad"); }
  askForToken(had ? "That token was not the right one. It is in the file that aop coordinator names when it starts." : "This takes the token. It is in the file that aop coordinator names when it starts.");
});

document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", () => {
  const wasTab = document.activeElement?.getAttribute("role") === "tab";
  route();
  // Who goes from tab to tab stays there.
  const tab = wasTab ? main.querySelector('[role="tab"][aria-selected="true"]') : null;
  (tab ?? main).focus({ preventScroll: true });
  if (!tab) scrollTo(0, 0);
});
showToken();
route();
follow();
