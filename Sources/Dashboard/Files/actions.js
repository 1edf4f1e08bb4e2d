// What changes work: each asks first where nothing brings it back.

import { h, setText, toast } from "./dom.js";
import { post, submissionPath } from "./api.js";
import { FINAL } from "./format.js";

const dialog = document.getElementById("confirm-dialog");

function confirm(title, text, yes) {
  setText(document.getElementById("confirm-title"), title);
  setText(document.getElementById("confirm-text"), text);
  setText(document.getElementById("confirm-yes"), yes);
  return new Promise((resolve) => {
    const form = document.getElementById("confirm-form"), no = document.getElementById("confirm-no");
    const end = (answer) => { dialog.close(); form.onsubmit = no.onclick = dialog.oncancel = null; resolve(answer); };
    form.onsubmit = (event) => { event.preventDefault(); end(true); };
    no.onclick = () => end(false);
    dialog.oncancel = () => end(false);
    dialog.showModal();
    no.focus();
  });
}

async function act(button, work, done) {
  button.disabled = true;
  try {
    toast(done(await work()), "good");
  } catch (error) {
    // The dialog for the token says it already.
    if (error.status !== 401) toast(error.message, "bad");
  } finally {
    button.disabled = false;
  }
}

/** Buttons for a submission, or for an operation or group of it. */
export function actions(id, path, onRetried) {
  const where = submissionPath(id), name = path ? `${path}` : `submission ${id}`;
  const pause = h("button", { type: "button", class: "quiet", onclick: () => act(pause, () => post(`${where}/pause`, path ? { path } : {}), () => `Paused ${name}: what runs goes on, nothing else begins.`) }, "Pause");
  const resume = h("button", { type: "button", class: "quiet", onclick: () => act(resume, () => post(`${where}/resume`, path ? { path } : {}), (answer) => (answer.pausedBy === null ? `${name} goes on.` : `${name} waits on: ${answer.pausedBy || "the submission"} is paused.`)) }, "Resume");
  const cancel = h("button", {
    type: "button", class: "danger", async onclick() {
      if (!(await confirm(`Cancel ${name}?`, "What runs is stopped, and what has not begun does not begin. What has ended stays.", "Cancel it"))) return;
      act(cancel, () => post(`${where}/cancel`, path ? { path, reason: "from the dashboard" } : { reason: "from the dashboard" }), (answer) => (answer.alreadyEnded ? "It had ended already." : `${name} is being cancelled.`));
    },
  }, "Cancel");
  const retry = (failed, text) => {
    const button = h("button", { type: "button", class: failed ? "primary" : "quiet", onclick: () => act(button, async () => { const answer = await post(`${where}/retry`, { failed }); onRetried?.(answer.id); return answer; }, (answer) => `Submitted again as ${answer.id}.`) }, text);
    return button;
  };
  const again = path ? [] : [retry(true, "Retry what failed"), retry(false, "Run all again")];
  const buttons = [pause, resume, cancel, ...again];
  // What can be done is known when it is known how it stands.
  for (const button of buttons) button.hidden = true;
  const element = h("div", { class: "actions", role: "group", "aria-label": "Actions" }, buttons);
  return {
    element,
    show(word) {
      const isOver = FINAL.has(word);
      pause.hidden = isOver || word === "paused";
      resume.hidden = isOver || word !== "paused";
      cancel.hidden = isOver;
      if (again.length) { again[0].hidden = !(word === "failed" || word === "cancelled"); again[1].hidden = !isOver; }
    },
  };
}
