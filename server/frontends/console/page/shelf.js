// The tab with the models that are there and those that can be fetched. The server's lists are asked for when the tab is opened, and what is
// fetched now comes with each answer of the live view.

import { $, el, explain, languageName, onKey, request, show } from "./common.js";

const NAMELESS = "NOASSERTION";   // a licence that is not known
const TASKS = { speech: "Speech", synthesis: "Speech", translation: "Translation", infer: "Tensors" };

let shelf = null;         // the models of the repository
let available = [];       // the models of the hubs
let seen = false;
let asked = false;        // the hubs have answered, or are being asked
let asking = 0;           // counts the questions, so that a late answer is dropped
let onPulling = () => {};
const rows = new Map();   // by the key of an entry
const own = new Map();    // the pulls of this page by the model's name: { controller, published }
const removing = new Set();
let pulls = [];           // as the server says
const speeds = new Map(); // of each model that is fetched: { at, bytes, rate }

// --- what there is ---

// The name of a model in the repository, as `millrace pull` makes it.
function modelName(published) {
  const [kind, ...rest] = published.split("/");
  const text = published.startsWith("hf:") ? rest.join("/").split("@")[0] : kind === "piper" ? rest.join("/") : published;
  return text.toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 128) || "model";
}

// The published names that a name stands for: `firefox/de` is both directions.
function published(name) {
  const both = name.match(/^firefox\/([A-Za-z]+)$/);
  return both ? [`firefox/${both[1]}-en`, `firefox/en-${both[1]}`] : [name];
}

// The models of the repository, each with what was published, and then those that are only published.
function entries() {
  const here = shelf?.models ?? [];
  const byOrigin = new Map(here.filter((model) => model.origin).map((model) => [model.origin.name, model]));
  const without = new Map(here.filter((model) => !model.origin).map((model) => [model.name, model]));
  // The key of an entry is the same before and after the hubs have answered, so that its row, and the focus in it, stay.
  const keyOf = (model) => (model.origin && byOrigin.get(model.origin.name) === model ? model.origin.name : `model ${model.name}`);
  const listed = available.map((entry) => {
    const installed = byOrigin.get(entry.name) ?? without.get(entry.model);
    return { key: installed ? keyOf(installed) : entry.name, name: entry.name, model: entry.model, task: entry.task, languages: entry.languages.split(" "),
      bytes: entry.bytes, license: entry.license, nonCommercial: entry.non_commercial, installed };
  });
  const shown = new Set(listed.map((entry) => entry.installed?.name));
  const others = here.filter((model) => !shown.has(model.name)).map((model) => ({ key: keyOf(model), name: model.origin?.name ?? model.name,
    model: model.name, task: model.task, languages: model.languages ?? [], bytes: model.bytes, license: model.license, installed: model }));
  const all = [...others, ...listed];
  return [...all.filter((entry) => entry.installed), ...all.filter((entry) => !entry.installed)];
}

const languagesText = ({ languages }) => (languages.length === 1 && /^\d+$/.test(languages[0]) ? `${languages[0]} languages`
  : languages.length > 4 ? `${languages.length} languages` : languages.join(", "));
const licenseText = (entry) => (entry.installed?.license ?? entry.license ?? "").replace(NAMELESS, "not stated");
const megabytes = (count) => (count > 0 && count < 5e4 ? "< 0.1 MB" : count >= 1e9 ? `${(count / 1e9).toFixed(1)} GB` : `${(count / 1e6).toFixed(count < 1e7 ? 1 : 0)} MB`);
const sizeText = (entry) => (entry.installed?.bytes ?? entry.bytes ? megabytes(entry.installed?.bytes ?? entry.bytes) : "–");

function matches(entry) {
  const task = $("shelf-task").value;
  if (task && TASKS[entry.task] !== task) return false;
  const state = $("shelf-state").value;
  if (state && (state === "installed") !== Boolean(entry.installed)) return false;
  const languages = entry.languages.flatMap((tag) => [tag, tag && !/^\d+$/.test(tag) ? languageName(tag) : ""]);
  const text = [entry.name, entry.model, licenseText(entry), ...languages].join(" ").toLowerCase();
  return $("shelf-filter").value.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

// --- the rows ---

const pullOf = (entry) => pulls.find((pull) => pull.published === entry.name || pull.model === entry.model)
  ?? (own.has(entry.model) ? { model: entry.model, published: entry.name, waiting: true, bytes: 0, size: 0 } : null);

function progressText(pull) {
  if (pull.converting) return "Converting";
  if (pull.waiting) return "Waiting";
  if (!pull.bytes) return "Asking the hub";
  const rate = speeds.get(pull.model)?.rate;
  const speed = rate > 0 ? `, ${megabytes(rate)}/s` : "";
  const left = rate > 0 && pull.size ? `, ${Math.ceil((pull.size - pull.bytes) / rate)} s left` : "";
  return `${pull.size ? `${megabytes(pull.bytes)} of ${megabytes(pull.size)}` : megabytes(pull.bytes)}${speed}${left}`;
}

const cell = (label, className, ...children) => el("td", { role: "cell", className, "data-label": label }, ...children);

function makeRow(entry) {
  const row = { note: el("span", { className: "hint" }), badge: el("span", { className: "badge" }), warning: el("span", { className: "badge warning", hidden: true }, "Non-commercial"),
    languages: cell("Languages", "fact wrap"), size: cell("Size", "fact number"), license: el("span"), task: cell("Task", "fact"),
    bar: el("progress", { max: 1, hidden: true, "aria-label": `${entry.name} is being fetched` }), text: el("span", { className: "hint" }),
    button: el("button", { type: "button", className: "quiet" }) };
  row.button.addEventListener("click", () => press(row.entry));
  row.element = el("tr", { role: "row" },
    el("th", { scope: "row", role: "rowheader" }, el("span", { className: "model" }, el("b", {}, entry.name), row.note)),
    row.task, row.languages, row.size, cell("Licence", "fact wrap license", row.license, " ", row.warning),
    cell("State", "state", row.badge, row.bar, row.text), cell("", "end", row.button));
  return row;
}

function drawRow(row, entry) {
  row.entry = entry;
  const model = entry.installed;
  const pull = pullOf(entry);
  const texts = [[row.task, TASKS[entry.task] ?? TASKS[model?.task] ?? "–"], [row.languages, languagesText(entry) || "–"], [row.size, sizeText(entry)],
    [row.license, licenseText(entry) || "–"], [row.note, model && model.name !== entry.name ? `as ${model.name}` : ""]];
  for (const [element, text] of texts) if (element.textContent !== text) element.textContent = text;
  row.warning.hidden = !(entry.nonCommercial || /\bNC\b|non-?commercial/i.test(licenseText(entry)));
  row.badge.hidden = Boolean(pull);
  row.badge.textContent = model?.error ? "Not readable" : model ? "Installed" : "Available";
  row.badge.title = model?.error ?? "";
  row.badge.dataset.state = model?.error ? "FAILED" : model ? "READY" : "AVAILABLE";
  row.bar.hidden = !pull;
  row.text.textContent = pull ? progressText(pull) : "";
  if (pull) {
    if (pull.size && pull.bytes && !pull.converting) row.bar.value = Math.min(1, pull.bytes / pull.size);
    else row.bar.removeAttribute("value");
  }
  const action = pull ? (own.has(pull.model) ? "Cancel" : "") : model ? "Remove" : "Pull";
  row.button.textContent = removing.has(entry.model) ? "Working" : action;
  row.button.setAttribute("aria-label", `${row.button.textContent} ${entry.name}`);
  row.button.hidden = !action || !shelf?.may_admin || !shelf.may_pull || (action === "Remove" && !model.removable);
  row.button.disabled = removing.has(model?.name);
}

export function draw() {
  if (!shelf) return;
  const all = entries();
  const shown = all.filter(matches);
  const keys = new Set(shown.map((entry) => entry.key));
  for (const [key, row] of rows) {
    if (keys.has(key)) continue;
    row.element.remove();
    rows.delete(key);
  }
  const body = $("shelf-models");
  shown.forEach((entry, i) => {
    if (!rows.has(entry.key)) rows.set(entry.key, makeRow(entry));
    const row = rows.get(entry.key);
    drawRow(row, entry);
    // A row that is moved would lose the keyboard's focus.
    if (body.children[i] !== row.element) {
      const focused = row.element.contains(document.activeElement) ? document.activeElement : null;
      body.insertBefore(row.element, body.children[i] ?? null);
      focused?.focus();
    }
  });
  const installed = all.filter((entry) => entry.installed).length;
  const count = shown.length === all.length ? `${all.length} models` : `${shown.length} of ${all.length} models`;
  const text = `${count}, ${installed} installed${asking && !asked ? "; asking the hubs for more" : ""}`;
  if ($("shelf-count").textContent !== text) $("shelf-count").textContent = text;
}

// --- pull and remove ---

// What happens is said once; the figures of a transfer are not read out each second.
function say(text) {
  $("shelf-said").textContent = text;
}

function press(entry) {
  const pull = pullOf(entry);
  if (pull) own.get(pull.model)?.controller.abort();
  else if (entry.installed) askToRemove(entry);
  else if (entry.nonCommercial) askForLicense(entry.name, `The licence of ${entry.name} is ${licenseText(entry)}, which allows no commercial use.`);
  else fetchModel(entry.name);
}

function askForLicense(name, text) {
  $("license-text").textContent = `${text} Nothing has been downloaded.`;
  $("license-go").onclick = () => fetchModel(name, true);
  $("license-dialog").showModal();
}

async function fetchModel(name, licenseOk = false) {
  const model = modelName(name);
  if (own.has(model)) return;
  const controller = new AbortController();
  own.set(model, { controller, published: name });
  show($("shelf-error"), "");
  say(`${name} is being fetched`);
  onPulling();
  draw();
  let refused = "";
  try {
    const parameters = licenseOk ? { pull: name, license_ok: true } : { pull: name };
    await request(`/v2/repository/models/${encodeURIComponent(model)}/load`, { body: { parameters }, signal: controller.signal });
    say(`${name} is installed and serves as ${model}`);
  } catch (error) {
    if (error.name === "AbortError") say(`Fetching ${name} was cancelled; another pull goes on where it was`);
    else if (/allows no commercial use/.test(error.message) && !licenseOk) refused = error.message.replace(/; --license-ok accepts it$/, ".");
    else show($("shelf-error"), `${name}: ${explain(error)}`);
  }
  own.delete(model);
  speeds.delete(model);
  pulls = pulls.filter((pull) => pull.model !== model);
  onPulling();
  await loadInstalled();
  if (refused) askForLicense(name, refused);
}

function askToRemove(entry) {
  const model = entry.installed;
  $("remove-text").textContent = `The files of ${model.name} (${megabytes(model.bytes ?? 0)}) are deleted from ${shelf.folder}, and requests for it are refused, `
    + `those of other people too.${model.origin ? "" : " It was not pulled by its name, so only who has its files can add it again."}`;
  $("remove-go").onclick = () => remove(model.name);
  $("remove-dialog").showModal();
}

async function remove(model) {
  removing.add(model);
  show($("shelf-error"), "");
  draw();
  try {
    await request(`/v2/repository/models/${encodeURIComponent(model)}/unload`, { body: { parameters: { remove: true } } });
    say(`${model} is removed`);
  } catch (error) {
    show($("shelf-error"), `${model}: ${explain(error)}`);
  }
  removing.delete(model);
  await loadInstalled();
}

// --- asking ---

async function loadInstalled() {
  try {
    shelf = await (await request("/console/shelf", { quiet: true })).json();
  } catch (error) {
    show($("shelf-notice"), explain(error));
    $("shelf-notice").classList.add("error");
    return;
  }
  $("shelf-notice").classList.remove("error");
  show($("shelf-notice"), !shelf.may_pull ? "This server fetches and removes no models for its callers. Started with --allow-pull, or with "
    + "MILLRACE_ALLOW_PULL=true in its environment, it does so for those who may load models. On its machine, millrace pull NAME and millrace remove NAME do the same."
    : !shelf.may_admin ? "Fetching and removing models needs a key with the role admin." : "");
  $("shelf-pull").hidden = !shelf.may_pull || !shelf.may_admin;
  $("shelf-refresh").hidden = $("shelf-pull").hidden;
  $("shelf-body").hidden = false;
  draw();
  if (!asked && shelf.may_pull && shelf.may_admin) await loadAvailable();
}

async function loadAvailable() {
  const mine = ++asking;
  show($("shelf-hubs"), "");
  $("shelf-refresh").disabled = true;
  draw();
  try {
    const answer = await (await request("/console/shelf/available", { body: {}, quiet: true })).json();
    if (mine !== asking) return;
    asked = true;
    available = answer.models;
    show($("shelf-hubs"), answer.notice);
  } catch (error) {
    if (mine !== asking) return;
    asked = true;   // not again and again; there is a button
    show($("shelf-hubs"), explain(error));
  }
  $("shelf-refresh").disabled = false;
  draw();
}

// Takes a snapshot of the live view.
export function follow(live) {
  const before = pulls.map((pull) => pull.model).join("\n");
  pulls = live.pulls ?? [];
  for (const pull of pulls) {
    const last = speeds.get(pull.model);
    if (!last || pull.bytes < last.bytes) speeds.set(pull.model, { at: live.now_ms, bytes: pull.bytes, rate: 0 });
    else if (live.now_ms - last.at >= 1000) {
      const rate = (pull.bytes - last.bytes) / (live.now_ms - last.at) * 1000;
      speeds.set(pull.model, { at: live.now_ms, bytes: pull.bytes, rate: last.rate ? 0.7 * last.rate + 0.3 * rate : rate });
    }
  }
  if (!seen) return;
  if (before && pulls.map((pull) => pull.model).join("\n") !== before) loadInstalled();   // one has ended, perhaps another person's
  else draw();
}

// The tab is shown or hidden.
export function setSeen(value) {
  if (value && !seen) loadInstalled();
  seen = value;
}

// `changed` is called when a pull of this page begins or ends.
export function start(changed) {
  onPulling = changed;
  for (const id of ["shelf-filter", "shelf-task", "shelf-state"]) $(id).addEventListener("input", draw);
  $("shelf-refresh").addEventListener("click", loadAvailable);
  $("shelf-pull").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = $("shelf-name").value.trim();
    if (!name) return;
    $("shelf-name").value = "";
    for (const each of published(name)) fetchModel(each);
  });
  for (const dialog of ["license", "remove"]) $(`${dialog}-cancel`).addEventListener("click", () => $(`${dialog}-dialog`).close());
  onKey(() => {
    asked = false;
    if (seen) loadInstalled();
  });
}
