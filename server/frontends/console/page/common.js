// The parts of the page share this: requests with the key, server-sent events, elements, numbers.

// The key lives in this variable and nowhere else.
let key = "";
const keyListeners = new Set();

export function setKey(value) {
  key = value;
  for (const listener of keyListeners) listener();
}

export function hasKey() {
  return key !== "";
}

// Calls `listener` whenever the key changes, or whether one is needed.
export function onKey(listener) {
  keyListeners.add(listener);
}

let needed = false;

export function setKeyNeeded(value) {
  if (value === needed) return;
  needed = value;
  for (const listener of keyListeners) listener();
}

export function keyNeeded() {
  return needed || hasKey();
}

let askForKey = () => {};
export function setKeyPrompt(prompt) {
  askForKey = prompt;
}

// A request that the server refused, with its message.
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function errorOf(response) {
  let message = `The server answered ${response.status}.`;
  try {
    const { error } = await response.json();
    message = typeof error === "string" ? error : error.message;
  } catch {
    // The body says nothing more.
  }
  return new ApiError(response.status, message);
}

// Sends a request and returns the response once it has begun. A body goes out as JSON, unless it is a form.
export async function request(path, { body, signal, method, quiet } = {}) {
  const headers = {};
  const isForm = body instanceof FormData;
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers, signal, cache: "no-store", credentials: "omit",
    body: body === undefined || isForm ? body : JSON.stringify(body),
  });
  if (response.ok) return response;
  const error = await errorOf(response);
  // LibreTranslate's routes say 403 where others say 401.
  error.needsKey = response.status === 401 || (response.status === 403 && error.message.startsWith("api_key"));
  if (error.needsKey) setKeyNeeded(true);
  if (error.needsKey && !quiet) askForKey(error.message);
  throw error;
}

// Yields the JSON objects of a stream of server-sent events.
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      let end;
      while ((end = text.indexOf("\n\n")) >= 0) {
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        if (event.startsWith("data: ")) yield JSON.parse(event.slice(6));
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Returns what a failed request means for a person.
export function explain(error) {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError) return "The connection to the server was lost.";
  return String(error.message ?? error);
}

// What a person chose is kept in this browser; the key never is. A browser may refuse, and then nothing is kept.
export const MOST_KEPT = 100_000;   // characters of a text

export function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(`millrace.${name}`)) ?? {};
  } catch {
    return {};
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(`millrace.${name}`, JSON.stringify(value));
  } catch {
    // It is full, or not allowed.
  }
}

export const $ = (id) => document.getElementById(id);

// Makes an element. Text is always set as text.
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function show(element, message) {
  element.hidden = !message;
  element.textContent = message ?? "";
}

const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
export function languageName(tag) {
  try {
    return languageNames.of(tag);
  } catch {
    return tag;
  }
}

export function bytes(count) {
  if (!count) return "0";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(Math.floor(Math.log2(count) / 10), units.length - 1);
  const value = count / 1024 ** power;
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

export function number(value) {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  if (value < 10) return value.toFixed(value < 1 ? 2 : 1);
  return Math.round(value).toLocaleString("en");
}

export function milliseconds(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 0.01) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
}

export function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

export function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

// A canvas in device pixels, with its size in CSS pixels.
export function drawing(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const scale = window.devicePixelRatio || 1;
  const across = Math.round(width * scale);
  const down = Math.round(height * scale);
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Fills a card with one request in two languages. Returns a function that shows another request.
export function snippet(card, forms) {
  const code = el("pre", { tabIndex: 0 }, el("code"));
  const buttons = Object.keys(forms).map((name, i) =>
    el("button", { type: "button", className: "choice", "aria-pressed": String(i === 0) }, name));
  let chosen = Object.keys(forms)[0];
  let last;
  const draw = () => {
    if (last !== undefined) code.firstChild.textContent = forms[chosen](last);
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      chosen = button.textContent;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      draw();
    });
  }
  const copyButton = el("button", { type: "button", className: "quiet" }, "Copy");
  copyButton.addEventListener("click", () => copy(code.textContent, copyButton));
  card.append(
    el("div", { className: "label-row" }, el("h2", {}, "Request"),
      el("span", { className: "choices", role: "group", "aria-label": "Language of the program" }, ...buttons), copyButton),
    code);
  onKey(draw);
  return (request) => {
    last = request;
    draw();
  };
}

// The header with the key as a line of a curl command; none where no key is needed.
export function curlKey() {
  return keyNeeded() ? `  -H "Authorization: Bearer $MILLRACE_API_KEY" \\\n` : "";
}

// A word of a shell, quoted.
export function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

// A JSON value as Python writes it.
export function python(value, indent = "") {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map((entry) => python(entry, indent)).join(", ")}]`;
  if (typeof value === "object") {
    const entries = Object.entries(value).map(([name, entry]) => `${JSON.stringify(name)}: ${python(entry, indent)}`);
    return `{${entries.join(", ")}}`;
  }
  return JSON.stringify(value);
}
