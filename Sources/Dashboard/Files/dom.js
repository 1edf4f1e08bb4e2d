// Elements. Everything that comes from the coordinator becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: h("p", {class: "x", onclick: f}, "text", child). */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "data") Object.assign(element.dataset, value);
    else if (value === true) element.setAttribute(key, "");
    else element.setAttribute(key, value);
  }
  append(element, children);
  return element;
}

/** An element of a drawing. */
export function s(name, attributes = {}) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** Sets a text only where it is another one, so that nothing is drawn anew for nothing. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Calls `f` at most once per `ms`, and once more after the last call. */
export function throttle(ms, f) {
  let last = 0, timer = 0;
  return () => {
    if (timer) return;
    const wait = Math.max(0, last + ms - performance.now());
    timer = setTimeout(() => { timer = 0; last = performance.now(); f(); }, wait);
  };
}

export function toast(text, kind = "") {
  const box = document.getElementById("toasts");
  const element = h("p", { class: `toast ${kind}`, role: kind === "bad" ? "alert" : "status" }, text);
  box.append(element);
  setTimeout(() => element.remove(), 7000);
}

/** A word with a mark of its colour. */
export function state(word) {
  return h("span", { class: "state", data: { state: word } }, h("i", { "aria-hidden": "true" }), word);
}
