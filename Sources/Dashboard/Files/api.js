// The coordinator's JSON API: requests, and streams of events over fetch, which can carry the token.

const KEY = "aop-token";
let onRefused = () => {};

export const token = {
  get() { return sessionStorage.getItem(KEY) ?? ""; },
  set(text) { if (text) sessionStorage.setItem(KEY, text); else sessionStorage.removeItem(KEY); },
};

/** Is called when a request needs a token, or another one. */
export function whenRefused(f) { onRefused = f; }

function headers(more = {}) {
  return token.get() ? { Authorization: `Bearer ${token.get()}`, ...more } : more;
}

export class Failure extends Error {
  constructor(status, body) {
    super(body?.message ?? `the coordinator answered ${status}`);
    this.status = status;
    this.code = body?.code ?? "unknown";
  }
}

async function failure(response) {
  let body = null;
  try { body = await response.json(); } catch { /* not ours: the status says enough */ }
  const error = new Failure(response.status, body);
  if (response.status === 401) onRefused(error);
  return error;
}

export async function get(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  const response = await fetch(`/api/v1${path}${query ? `?${query}` : ""}`, { headers: headers(), cache: "no-store" });
  if (!response.ok) throw await failure(response);
  return response.json();
}

export async function post(path, body = {}) {
  const response = await fetch(`/api/v1${path}`, {
    method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body),
  });
  if (!response.ok) throw await failure(response);
  return response.json();
}

/**
 * A stream of events, which comes back by itself where it was interrupted.
 *
 * @param handlers by the name of the event; `end` ends it; `status` is told "live" or "away".
 * @returns a function that ends it.
 */
export function stream(path, parameters, handlers) {
  const abort = new AbortController();
  let lastID = null, wait = 500;
  const query = new URLSearchParams(parameters).toString();
  const url = `/api/v1${path}${query ? `?${query}` : ""}`;
  (async () => {
    while (!abort.signal.aborted) {
      try {
        const more = { Accept: "text/event-stream" };
        if (lastID) more["Last-Event-ID"] = lastID;
        const response = await fetch(url, { headers: headers(more), signal: abort.signal, cache: "no-store" });
        if (response.status === 204) return;
        if (!response.ok) {
          const error = await failure(response);
          if (response.status < 500) { handlers.failure?.(error); return; }
          throw error;
        }
        wait = 500;
        handlers.status?.("live");
        if (await read(response.body, (name, id, data) => {
          if (id) lastID = id;
          handlers[name]?.(data);
          return name === "end" || name === "failure";
        })) return;
      } catch {
        if (abort.signal.aborted) return;
      }
      handlers.status?.("away");
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(wait * 2, 10000);
    }
  })();
  return () => abort.abort();
}

/** Reads events until the body ends. @returns whether `take` said that it was the last one. */
async function read(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    rest += value;
    let end;
    while ((end = rest.indexOf("\n\n")) >= 0) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      let name = "message", id = null, data = "";
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) name = line.slice(7);
        else if (line.startsWith("id: ")) id = line.slice(4);
        else if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (data && take(name, id, JSON.parse(data))) { await reader.cancel(); return true; }
    }
  }
}

export const submissionPath = (id) => `/submissions/${encodeURIComponent(id)}`;
