// The tab that translates, word by word as the words come.

import { $, MOST_KEPT, copy, curlKey, el, events, explain, keyNeeded, languageName, milliseconds, onKey, python, quoted, recall, remember, request,
  show, snippet } from "./common.js";

const PAUSE = 350;   // milliseconds without typing before a translation begins

let languages = [];
let controller = null;
let timer = 0;
let translated = "";   // what stands in the output
let detected = null;   // the language that was detected last
let passedOver = null; // the target that was left because the text was in it
let insisted = null;   // the language of texts that the person wants to have in that same language

// What the person chose: { source, target, text }. It stays while no model has these languages.
const wanted = recall("translate");

function keep(changes) {
  Object.assign(wanted, changes);
  remember("translate", wanted);
}

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
    + `${curlKey()}  -d ${quoted(JSON.stringify(body, null, 1))}`,
  Python: (body) => `${keyNeeded() ? "import os\n" : ""}import requests\n\nanswer = requests.post(\n    "${location.origin}/translate",\n`
    + `${keyNeeded() ? `    headers={"Authorization": "Bearer " + os.environ["MILLRACE_API_KEY"]},\n` : ""}    json=${python(body)})\nprint(answer.json()["translatedText"])`,
});

// --- languages ---

const NO_MODELS = "No model that translates is loaded.";

export async function load() {
  languages = await (await request("/languages", { quiet: true })).json();
  const sources = languages.filter((language) => targetsOf(language.code).length);
  $("source").replaceChildren(el("option", { value: "auto" }, "Detect language"),
    ...sources.map((language) => el("option", { value: language.code }, languageName(language.code))));
  $("source").value = sources.some((language) => language.code === wanted.source) ? wanted.source : "auto";
  offerTargets();
  const none = sources.length === 0;
  $("source-text").disabled = none;
  $("file-choose").disabled = none;
  if (none) show($("translate-error"), NO_MODELS);
  else if ($("translate-error").textContent === NO_MODELS) show($("translate-error"), "");
  // A text that was kept, or that could not be translated without its model.
  if (!none && !translated && $("source-text").value) edited(0);
  refresh(build());
  await offerFiles();
}

// The languages that a language is translated into.
function targetsOf(code) {
  return (languages.find((language) => language.code === code)?.targets ?? []).filter((target) => target !== code);
}

// The language between two that no model translates directly.
function pivotOf(source, target) {
  return languages.find((language) => language.code === source)?.pivots?.[target];
}

// The language to translate into when the person did not say.
function usual(codes) {
  const own = navigator.languages.map((tag) => tag.split("-")[0]).find((tag) => codes.includes(tag) && tag !== "en");
  return own ?? codes.find((code) => code !== "en") ?? codes[0];
}

function offerTargets() {
  const source = $("source").value;
  const codes = source === "auto" ? [...new Set(languages.flatMap((language) => targetsOf(language.code)))] : targetsOf(source);
  $("target").replaceChildren(...codes.map((code) => {
    const pivot = source === "auto" ? undefined : pivotOf(source, code);
    return el("option", { value: code }, pivot ? `${languageName(code)} (by way of ${languageName(pivot)})` : languageName(code));
  }));
  $("target").value = codes.includes(wanted.target) ? wanted.target : usual(codes) ?? "";
  offerSwap();
}

// A text that is in the wanted language already is translated into another one, and a later text into the wanted one again. Returns true if
// the target changed.
function followDetected() {
  if ($("source").value !== "auto" || !detected || detected === insisted) return false;
  const codes = targetsOf(detected);
  if (codes.length === 0) return false;
  const before = $("target").value;
  const target = codes.includes(wanted.target) ? wanted.target : codes.includes(before) ? before : usual(codes);
  if (target === before) return false;
  passedOver = before === detected ? before : null;
  $("target").value = target;
  return true;
}

// The languages with which the swap begins; null: there is no way back.
function swapped() {
  const source = $("source").value === "auto" ? detected : $("source").value;
  const target = $("target").value;
  return source && source !== target && targetsOf(target).includes(source) ? { source: target, target: source } : null;
}

function offerSwap() {
  $("swap").disabled = swapped() === null;
}

function swap() {
  const languagesThen = swapped();
  if (!languagesThen) return;
  keep(languagesThen);
  insisted = passedOver = null;
  $("source").value = languagesThen.source;
  offerTargets();
  if (translated) $("source-text").value = translated;
  edited(0);
}

// --- translating ---

function edited(pause = PAUSE) {
  clearTimeout(timer);
  const text = $("source-text").value;
  keep({ text: text && text.length <= MOST_KEPT ? text : undefined });
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
  detected = insisted = passedOver = null;
  offerSwap();
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

function showDetected({ detectedLanguage: found, untranslated }) {
  detected = found?.confidence > 0 ? found.language : null;
  offerSwap();
  if (!found) $("detected").textContent = "";
  else if (!detected) $("detected").textContent = "The language could not be told; taken for English";
  else {
    const name = languageName(detected);
    const note = detected === $("target").value ? `; the text is ${name} already`
      : untranslated ? `; no model that is loaded translates it into ${languageName($("target").value)}`
      : detected === passedOver ? `, so it is translated into ${languageName($("target").value)}` : "";
    $("detected").textContent = `Detected: ${name}, ${found.confidence} % sure${note}`;
  }
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
    showDetected(answer);
    if (followDetected()) return edited(0);
    showAlternatives(answer.alternatives);
    $("copy-target").disabled = false;
    const notes = [milliseconds((performance.now() - start) / 1000)];
    const pivot = pivotOf(body.source === "auto" ? detected : body.source, body.target);
    if (pivot) notes.push(`by way of ${languageName(pivot)}`);
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

// --- files ---

let fileController = null;

// The kinds of files are the server's to name; any other way to refuse one is its answer.
async function offerFiles() {
  if ($("file").accept) return;
  const settings = await (await request("/frontend/settings", { quiet: true })).json();
  $("file").accept = settings.supportedFilesFormat.join(",");
  $("file-state").textContent = settings.supportedFilesFormat.map((extension) => extension.slice(1)).join(", ");
}

// Translates files one after the other, as the languages and the glossary stand now. What is wrong with one does not stop the others.
async function translateFiles(files) {
  const all = [...files];
  $("file").value = "";   // so that the same files can be chosen again
  if (!all.length) return;
  fileController?.abort();
  const mine = fileController = new AbortController();
  const languagesNow = { source: $("source").value, target: $("target").value };
  const { terms, kept } = glossary();
  const done = [];
  const errors = [];
  show($("file-error"), "");
  $("file-stop").hidden = false;
  for (const file of all) {
    const place = all.length > 1 ? ` (${done.length + errors.length + 1} of ${all.length})` : "";
    $("file-state").replaceChildren(...done, `Translating ${file.name} into ${languageName(languagesNow.target)}${place}`);
    const form = new FormData();
    form.append("file", file);
    for (const [name, value] of Object.entries(languagesNow)) form.append(name, value);
    if (terms.length) form.append("glossary", JSON.stringify(terms));
    if (kept.length) form.append("do_not_translate", JSON.stringify(kept));
    const start = performance.now();
    try {
      const { translatedFileUrl } = await (await request("/translate_file", { body: form, signal: mine.signal })).json();
      if (fileController !== mine) return;
      // The server knows its address as the browser named it; behind a proxy the path alone is sure.
      const link = el("a", { href: new URL(translatedFileUrl, location.href).pathname, download: "" }, "Download the translation");
      done.push(el("span", { className: "file" }, `${file.name}: done in ${milliseconds((performance.now() - start) / 1000)}. `, link, ", kept for 10 minutes"));
    } catch (error) {
      if (fileController !== mine) return;
      if (error.name === "AbortError") {
        done.push("Stopped");
        break;
      }
      errors.push(`${file.name}: ${explain(error)}`);
    }
  }
  $("file-state").replaceChildren(...done);
  show($("file-error"), errors.join("\n"));
  fileController = null;
  $("file-stop").hidden = true;
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
    detected = insisted = passedOver = null;
    keep({ source: $("source").value });
    offerTargets();
    edited(0);
  });
  $("target").addEventListener("change", () => {
    keep({ target: $("target").value });
    insisted = detected === wanted.target ? detected : null;
    offerSwap();
    edited(0);
  });
  for (const id of ["markup", "alternatives"]) $(id).addEventListener("change", () => edited(0));
  $("swap").addEventListener("click", swap);
  $("copy-target").addEventListener("click", () => copy(translated, $("copy-target")));
  $("glossary-add").addEventListener("click", addTerm);
  $("file-choose").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", () => translateFiles($("file").files));
  $("file-stop").addEventListener("click", () => fileController?.abort());
  $("source-text").addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  });
  $("source-text").addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    translateFiles(event.dataTransfer.files);
  });
  onKey(() => refresh(build()));
  if (wanted.text) $("source-text").value = wanted.text;
  refresh(build());
}
