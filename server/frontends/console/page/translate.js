// The tab that translates, word by word as the words come.

import { $, copy, el, events, explain, languageName, milliseconds, onKey, python, quoted, request, setOptions, show, snippet } from "./common.js";

const PAUSE = 350;   // milliseconds without typing before a translation begins

let languages = [];
let controller = null;
let timer = 0;
let translated = "";   // what stands in the output

function glossary() {
  const terms = [];
  const kept = [];
  for (const row of $("glossary").children) {
    const [source, target] = [...row.querySelectorAll("input")].map((input) => input.value.trim());
    if (!source) continue;
    if (target) terms.push({ source, target });
    else kept.push(source);
  }
  return { terms, kept };
}

function build() {
  const { terms, kept } = glossary();
  const body = { q: $("source-text").value, source: $("source").value, target: $("target").value, format: $("markup").value };
  const alternatives = Number($("alternatives").value);
  if (alternatives) body.alternatives = alternatives;
  if (terms.length) body.glossary = terms;
  if (kept.length) body.do_not_translate = kept;
  return body;
}

const refresh = snippet($("translate-snippet"), {
  curl: (body) => `curl ${location.origin}/translate \\\n  -H 'Content-Type: application/json' \\\n`
    + `  -H "Authorization: Bearer $MILLRACE_KEY" \\\n  -d ${quoted(JSON.stringify(body, null, 1))}`,
  Python: (body) => `import requests\n\nanswer = requests.post(\n    "${location.origin}/translate",\n`
    + `    headers={"Authorization": "Bearer ..."},\n    json=${python(body)})\nprint(answer.json()["translatedText"])`,
});

// --- languages ---

export async function load() {
  languages = await (await request("/languages", { quiet: true })).json();
  const sources = languages.filter((language) => language.targets.some((target) => target !== language.code));
  setOptions($("source"), [el("option", { value: "auto" }, "Detect language"),
    ...sources.map((language) => el("option", { value: language.code }, languageName(language.code)))], "auto");
  offerTargets();
  const none = sources.length === 0;
  $("source-text").disabled = none;
  show($("translate-error"), none ? "No model that translates is loaded." : "");
}

function offerTargets() {
  const source = $("source").value;
  const codes = new Set();
  for (const language of languages) {
    if (source !== "auto" && language.code !== source) continue;
    for (const target of language.targets) if (target !== language.code || source === "auto") codes.add(target);
  }
  const wanted = navigator.languages.map((tag) => tag.split("-")[0]).find((tag) => codes.has(tag) && tag !== "en");
  setOptions($("target"), [...codes].map((code) => el("option", { value: code }, languageName(code))), wanted ?? [...codes].find((code) => code !== "en"));
  $("swap").disabled = source === "auto" && !detected;
}

let detected = null;   // the language that was detected last

function swap() {
  const source = $("source").value === "auto" ? detected : $("source").value;
  const target = $("target").value;
  if (!source || ![...$("source").options].some((option) => option.value === target)) return;
  $("source").value = target;
  offerTargets();
  $("target").value = source;
  if (translated) $("source-text").value = translated;
  edited(0);
}

// --- translating ---

function edited(pause = PAUSE) {
  clearTimeout(timer);
  const text = $("source-text").value;
  $("source-count").textContent = text ? `${[...text].length.toLocaleString("en")} characters` : "";
  refresh(build());
  controller?.abort();
  controller = null;
  if (text.trim()) timer = setTimeout(translate, pause);
  else clear();
}

function clear() {
  translated = "";
  $("target-text").replaceChildren(el("span", { className: "empty" }, "Translation"));
  $("translate-state").textContent = "";
  $("detected").textContent = "";
  $("copy-target").disabled = true;
  $("alternatives-card").hidden = true;
  $("target-text").classList.remove("partial");
  show($("translate-error"), "");
}

function put(text) {
  translated = text;
  $("target-text").textContent = text;
  $("target-text").lang = $("target").value;
}

function showDetected(found) {
  detected = found?.confidence > 0 ? found.language : null;
  $("detected").textContent = found
    ? detected ? `Detected: ${languageName(found.language)}, ${found.confidence} % sure` : "The language could not be told; taken for English"
    : "";
  $("swap").disabled = $("source").value === "auto" && !detected;
}

function showAlternatives(others) {
  $("alternatives-card").hidden = !others?.length;
  $("alternative-list").replaceChildren(...(others ?? []).map((text) => {
    const button = el("button", { type: "button", className: "quiet" }, "Use");
    button.addEventListener("click", () => put(text));
    return el("li", {}, el("span", { lang: $("target").value }, text), button);
  }));
}

async function translate() {
  const mine = controller = new AbortController();
  const body = build();
  const start = performance.now();
  let text = "";
  $("translate-state").textContent = "Translating";
  $("target-text").classList.add("partial");
  show($("translate-error"), "");
  try {
    let answer = null;
    for await (const event of events(await request("/translate/stream", { body, signal: mine.signal }))) {
      if (controller !== mine) return;
      if (event.type === "error") throw new Error(event.error);
      if (event.type === "translation.delta") put(text += event.text);
      if (event.type === "translation.done") answer = event.answer;
    }
    if (controller !== mine) return;
    if (!answer) throw new TypeError("cut off");
    put(answer.translatedText);
    showDetected(answer.detectedLanguage);
    showAlternatives(answer.alternatives);
    $("copy-target").disabled = false;
    const notes = [milliseconds((performance.now() - start) / 1000)];
    if (body.alternatives && !answer.alternatives?.length) notes.push("this model gives no alternatives");
    if (answer.lost?.length) notes.push(`not kept: ${answer.lost.join(", ")}`);
    $("translate-state").textContent = notes.join("; ");
  } catch (error) {
    if (error.name === "AbortError" || controller !== mine) return;
    show($("translate-error"), explain(error));
    $("translate-state").textContent = "";
  } finally {
    if (controller === mine) {
      controller = null;
      $("target-text").classList.remove("partial");
    }
  }
}

function addTerm() {
  const source = el("input", { "aria-label": "Term", placeholder: "Term", autocomplete: "off" });
  const target = el("input", { "aria-label": "Its translation; empty: it is not translated", placeholder: "Translation, or kept as it is", autocomplete: "off" });
  const remove = el("button", { type: "button", className: "quiet", "aria-label": "Remove this term" }, "Remove");
  const row = el("div", { className: "term-row" }, source, target, remove);
  remove.addEventListener("click", () => {
    row.remove();
    $("glossary-add").focus();
    edited();
  });
  $("glossary").append(row);
  source.focus();
}

export function start() {
  $("source-text").addEventListener("input", () => edited());
  $("glossary").addEventListener("input", () => edited());
  $("source-text").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    edited(0);
  });
  $("source").addEventListener("change", () => {
    detected = null;
    offerTargets();
    edited(0);
  });
  for (const id of ["target", "markup", "alternatives"]) $(id).addEventListener("change", () => edited(0));
  $("swap").addEventListener("click", swap);
  $("copy-target").addEventListener("click", () => copy(translated, $("copy-target")));
  $("glossary-add").addEventListener("click", addTerm);
  onKey(() => refresh(build()));
  refresh(build());
}
