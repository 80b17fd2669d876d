// The tab that shows what the server does now. It asks once a second while it is seen, and seldom otherwise.

import { $, ApiError, bytes, color, drawing, el, explain, milliseconds, number, onKey, request, setKeyNeeded, show } from "./common.js";
import * as lanes from "./lanes.js";

const SPAN = 60_000;  // milliseconds that are shown
const RATE = 5_000;   // rates are of this many
const SEEN = 1000;    // between two snapshots
const UNSEEN = 10_000;
const MOST = 8000;    // the longest wait after a failure

let snapshots = [];   // the newest last; each has what was counted since the one before it
let history = [];     // the blocks of each worker
let seen = false;
let followed = false; // another tab that is seen shows what changes
let timer = 0;
let failures = 0;
let under = 0;        // counts the polls, so that a late answer to an old one is dropped
let onModels = () => {};
let onLive = () => {};
let known = null;     // the models that were ready last; null: not known

// --- what was counted ---

// What a model has counted since its first load.
const COUNTS = {
  requests: (model) => model.ended.ok + model.ended.failed + model.ended.cancelled,
  audio: (model) => model.audio_seconds,
  tokens: (model) => model.tokens,
  refused: (model) => model.refused,
  batches: (model) => model.batches.count,
  batched: (model) => model.batches.requests,
};
const HISTOGRAMS = ["queue_seconds", "first_audio_seconds"];

// A count that fell began anew.
const growth = (before, after) => (after < before ? after : after - before);

// Returns what was counted between two snapshots: of each model that was loaded in both, and of all. What a model counted before it was
// loaded again is nothing new.
function counted(before, live) {
  const models = new Map();
  const all = Object.fromEntries(Object.keys(COUNTS).map((name) => [name, 0]));
  const histograms = Object.fromEntries(HISTOGRAMS.map((name) => [name, live.bounds.map(() => 0).concat(0)]));
  const loaded = new Map((before?.models ?? []).filter((model) => model.task).map((model) => [model.name, model]));
  for (const model of live.models) {
    const last = model.task && loaded.get(model.name);
    if (!last) continue;
    const own = {};
    for (const [name, take] of Object.entries(COUNTS)) all[name] += own[name] = growth(take(last), take(model));
    for (const name of HISTOGRAMS)
      model[name].counts.forEach((count, i) => { histograms[name][i] += growth(last[name].counts[i], count); });
    models.set(model.name, own);
  }
  if (before) {
    all.refused += growth(before.refused_without_model, live.refused_without_model);
    all.cpu = growth(before.cpu_seconds, live.cpu_seconds);
    all.hits = growth(before.graph_cache.hits, live.graph_cache.hits);
    all.looked = all.hits + growth(before.graph_cache.misses, live.graph_cache.misses);
  }
  return { all, models, histograms };
}

const seconds = (from, to) => (to.now_ms - from.now_ms) / 1000;

// How fast a count grew over the last seconds, a second; NaN while that is not known.
function rate(take, over = RATE, at = snapshots.length - 1) {
  const to = snapshots[at];
  let total = 0;
  let i = at;
  for (; i > 0 && to.now_ms - snapshots[i].now_ms < over; --i) total += take(snapshots[i].counted) ?? 0;
  return i === at ? NaN : total / seconds(snapshots[i], to);
}

// The first snapshot is only what the others are compared with.
const grown = (take) => snapshots.slice(1).reduce((total, { counted }) => total + (take(counted) ?? 0), 0);

// The time that the page has seen, in words. It may have been opened just now.
function span() {
  const length = Math.round(seconds(snapshots[0], snapshots.at(-1)));
  return length >= 55 ? "the last minute" : `the last ${length} s`;
}

// Returns the words for what happened in the time that was seen.
const lately = (words) => (snapshots.length < 2 ? "counting from now on" : `${words} in ${span()}`);

// The quantiles of what was observed in the time that was seen.
function quantile(name, q) {
  const bounds = snapshots.at(-1).bounds;
  const counts = bounds.map(() => 0).concat(0);
  for (const { counted } of snapshots.slice(1)) counted.histograms[name].forEach((count, i) => { counts[i] += count; });
  const wanted = counts.at(-1) * q;
  if (!(counts.at(-1) > 0)) return NaN;
  const i = counts.findIndex((count) => count >= wanted);
  if (i >= bounds.length) return bounds.at(-1);
  const below = i ? counts[i - 1] : 0;
  const low = i ? bounds[i - 1] : 0;
  return low + (bounds[i] - low) * (wanted - below) / (counts[i] - below || 1);
}

const sum = (live, take) => live.models.reduce((total, model) => total + (model.task ? take(model) : 0), 0);
const refused = (live) => sum(live, COUNTS.refused) + live.refused_without_model;
const waiting = (live) => sum(live, (model) => model.queue.depth);

// --- the tiles ---

// A tile of a rate, with its line.
const rateTile = (title, unit, name, note) => ({
  title, unit, note, value: () => number(rate(({ all }) => all[name])), line: (i) => rate(({ all }) => all[name], 2000, i) || 0 });

// A tile of times; `none` says that nothing had such a time.
const timeTile = (title, name, none) => ({
  title, unit: "median", value: () => milliseconds(quantile(name, 0.5)),
  note: () => {
    const most = quantile(name, 0.95);
    return lately(Number.isFinite(most) ? `95 % within ${milliseconds(most)},` : none);
  } });

const TILES = [
  rateTile("Requests", "/s", "requests", (live) => `${live.in_flight} in flight, ${waiting(live)} waiting`),
  rateTile("Speech", "× real time", "audio", () => lately(`${number(grown(({ all }) => all.audio))} s spoken`)),
  rateTile("Translation", "tokens/s", "tokens", () => lately(`${number(grown(({ all }) => all.tokens))} tokens`)),
  timeTile("First audio", "first_audio_seconds", "no speech began"),
  timeTile("Wait in the queue", "queue_seconds", "nothing waited"),
  { title: "Refused", unit: "requests", value: () => number(snapshots.length < 2 ? NaN : grown(({ all }) => all.refused)),
    line: (i) => rate(({ all }) => all.refused, 2000, i) || 0,
    note: (live) => `${snapshots.length < 2 ? "" : `in ${span()}; `}${number(refused(live))} since the start` },
  rateTile("Processor", "cores", "cpu", (live) => `${live.workers.filter((worker) => worker.running).length} of ${live.workers.length} workers busy`),
  { title: "Memory", unit: "resident", value: () => bytes(snapshots.at(-1).memory.resident_bytes), line: (i) => snapshots[i].memory.resident_bytes,
    note: (live) => live.memory.device_bytes ? `${bytes(live.memory.device_bytes)} on the device` : `device ${live.device}` },
];

function makeTiles() {
  $("tiles").replaceChildren(...TILES.map((tile) => {
    tile.number = el("b");
    tile.text = el("span", { className: "hint" });
    tile.canvas = tile.line ? el("canvas", { "aria-hidden": "true" }) : null;
    return el("div", { className: "tile" }, el("h2", {}, tile.title), el("p", { className: "value" }, tile.number, ` ${tile.unit}`), tile.text, tile.canvas);
  }));
}

function drawTile(tile, live) {
  tile.number.textContent = tile.value();
  tile.text.textContent = tile.note(live);
  if (!tile.canvas) return;
  const { context, width, height } = drawing(tile.canvas);
  const values = snapshots.map((_, i) => tile.line(i));
  const most = Math.max(...values, 1e-9) * 1.1;
  const now = snapshots.at(-1).now_ms;
  context.strokeStyle = color("--accent");
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.beginPath();
  values.forEach((value, i) => {
    const x = width - (now - snapshots[i].now_ms) * width / SPAN;
    const y = height - 1 - value / most * (height - 2);
    if (i) context.lineTo(x, y);
    else context.moveTo(x, y);
  });
  context.stroke();
}

// --- the models ---

const STATES = { READY: "Ready", LOADING: "Loading", AVAILABLE: "Not loaded", FAILED: "Failed", IDLE: "Idle" };
const rows = new Map();
const busy = new Set();   // models that this page loads or unloads

// On a narrow screen a row becomes a small card, whose cells name themselves.
function cell(label, className, ...children) {
  return el("td", { role: "cell", className, "data-label": label }, ...children);
}

function makeRow(name) {
  const row = { badge: el("span", { className: "badge" }), bar: el("span", { className: "bar-fill" }), depth: el("span"), kind: el("span", { className: "hint" }),
    rate: cell("Requests/s", "number"), batch: cell("Batch", "number"), refused: cell("Refused", "number"), button: el("button", { type: "button", className: "quiet" }) };
  row.button.addEventListener("click", () => (row.button.dataset.action === "unload" ? askToUnload(name) : act(name, "load")));
  row.element = el("tr", { role: "row" },
    el("th", { scope: "row", role: "rowheader" }, el("span", { className: "model" }, el("b", {}, name), row.kind)),
    cell("State", "state", row.badge),
    cell("Queue", "queue", el("span", { className: "queue-bar", "aria-hidden": "true" }, row.bar), row.depth),
    row.rate, row.batch, row.refused, cell("", "end", row.button));
  return row;
}

function drawModels(live) {
  const names = live.models.map((model) => model.name);
  for (const [name, row] of rows) {
    if (names.includes(name)) continue;
    row.element.remove();
    rows.delete(name);
  }
  const body = $("models");
  live.models.forEach((model, i) => {
    if (!rows.has(model.name)) rows.set(model.name, makeRow(model.name));
    const row = rows.get(model.name);
    if (body.children[i] !== row.element) body.insertBefore(row.element, body.children[i] ?? null);
    drawRow(row, model, live);
  });
}

function drawRow(row, model, live) {
  const own = (name) => ({ models }) => models.get(model.name)?.[name];
  row.kind.textContent = `${model.task ?? ""}${model.task ? " · " : ""}version ${model.version}`;
  row.badge.textContent = STATES[model.state] ?? model.state;
  row.badge.dataset.state = model.state;
  row.badge.title = model.error ?? "";
  const loaded = Boolean(model.task);
  row.depth.textContent = loaded ? `${model.queue.depth} of ${model.queue.size}` : "–";
  row.bar.style.width = loaded ? `${Math.min(100, model.queue.depth / model.queue.size * 100)}%` : "0";
  row.rate.textContent = loaded ? number(rate(own("requests"))) : "–";
  const batches = loaded ? grown(own("batches")) : 0;
  row.batch.textContent = batches ? number(grown(own("batched")) / batches) : "–";
  row.refused.textContent = loaded ? number(model.refused) : "–";
  row.button.hidden = !live.may_admin;
  row.button.disabled = failures > 0 || busy.has(model.name) || model.state === "LOADING";
  row.button.dataset.action = loaded ? "unload" : "load";
  row.button.textContent = busy.has(model.name) ? "Working" : loaded ? "Unload" : "Load";
  row.button.setAttribute("aria-label", `${row.button.textContent} ${model.name}`);
}

// Everybody who uses the server would miss the model, so the person is asked.
function askToUnload(name) {
  $("unload-text").textContent = `Requests for ${name} will be refused until it is loaded again, those of other people too.`;
  $("unload-go").onclick = () => act(name, "unload");
  $("unload-dialog").showModal();
}

async function act(name, action) {
  busy.add(name);
  show($("models-error"), "");
  drawModels(snapshots.at(-1));
  try {
    await request(`/v2/repository/models/${encodeURIComponent(name)}/${action}`, { method: "POST", body: {} });
  } catch (error) {
    show($("models-error"), `${name}: ${explain(error)}`);
  }
  busy.delete(name);
  poll();
}

// --- the rest ---

function list(element, entries) {
  const texts = entries.flat();
  while (element.children.length < texts.length) element.append(el("dt"), el("dd"));
  texts.forEach((text, i) => { if (element.children[i].textContent !== text) element.children[i].textContent = text; });
}

function drawFacts(live) {
  const cache = live.graph_cache;
  const looked = grown(({ all }) => all.looked);
  list($("graph-cache"), [["Shapes", number(cache.entries)], ["Memory", bytes(cache.bytes)],
    [`Hits in ${span()}`, looked ? `${Math.round(grown(({ all }) => all.hits) / looked * 100)} % of ${number(looked)}` : "none asked for"],
    ["Dropped since the start", number(cache.evictions)]]);
  const up = Date.now() / 1000 - live.started_at;
  const hours = Math.floor(up / 3600);
  list($("process"), [["Version", live.version], ["Device", live.device], ["Up for", hours ? `${hours} h ${Math.floor(up / 60) % 60} min` : `${Math.floor(up / 60)} min ${Math.floor(up) % 60} s`],
    ["Streams leased", number(live.streams.leased)], ["gRPC connections", number(live.connections)]]);
  $("permits-text").textContent = `${live.permits.in_use} of ${live.permits.total} permits in use: forward passes at once`;
  const pips = $("pips");
  while (pips.children.length > live.permits.total) pips.lastChild.remove();
  while (pips.children.length < live.permits.total) pips.append(el("i"));
  [...pips.children].forEach((pip, i) => pip.classList.toggle("on", i < live.permits.in_use));
}

export function draw() {
  const live = snapshots.at(-1);
  if (!seen || !live) return;
  $("live-body").hidden = false;
  for (const tile of TILES) drawTile(tile, live);
  lanes.draw($("lanes"), history, live);
  $("lanes-text").textContent = lanes.describe(history, live);
  lanes.legend($("legend"), live.models.filter((model) => model.task).map((model) => model.name));
  drawModels(live);
  drawFacts(live);
}

// --- asking ---

// Without an answer the figures are those of the last one.
function setStale(stale) {
  $("live-body").classList.toggle("stale", stale);
  $("live-notice").classList.toggle("error", stale);
  for (const row of rows.values()) row.button.disabled ||= stale;
}

function setStatus(state, text) {
  const status = $("status");
  if (status.dataset.state !== state) status.dataset.state = state;
  if ($("status-text").textContent !== text) $("status-text").textContent = text;
}

function take(live) {
  const last = snapshots.at(-1);
  if (last && live.started_at !== last.started_at) {   // another process
    snapshots = [];
    history = [];
  }
  live.counted = counted(snapshots.at(-1), live);
  snapshots.push(live);
  while (snapshots.length > 2 && live.now_ms - snapshots[1].now_ms >= SPAN) snapshots.shift();
  setKeyNeeded(live.keys);
  for (const model of live.models) lanes.modelColor(model.name);   // in this order
  lanes.keep(history, live);
  const ready = live.models.filter((model) => ["READY", "IDLE"].includes(model.state)).map((model) => model.name).join("\n");
  if (ready !== known) onModels();
  known = ready;
  show($("live-notice"), "");
  setStale(false);
  const word = live.ready ? "Serving" : "Not ready";
  setStatus(live.ready && !live.degraded ? "on" : "wait", live.degraded ? `${word}: ${live.degraded}` : word);
  draw();
  onLive(live);
}

async function poll() {
  clearTimeout(timer);
  const mine = ++under;
  let wait = seen || followed ? SEEN : UNSEEN;
  const giveUp = AbortSignal.timeout(10_000);
  try {
    const since = snapshots.at(-1)?.now_ms ?? 0;
    // The last block may still grow, so a little is asked for again.
    const live = await (await request(`/console/live?since=${since - 50}`, { signal: giveUp, quiet: failures > 0 })).json();
    if (mine !== under) return;
    failures = 0;
    take(live);
  } catch (error) {
    if (mine !== under) return;
    ++failures;
    wait = Math.min(MOST, 500 * 2 ** failures);
    known = null;   // what the lists show may be out of date
    setStale(snapshots.length > 0);
    if (error instanceof ApiError) {
      setStatus(error.needsKey ? "key" : "wait", error.needsKey ? "Key needed" : "Not ready");
      show($("live-notice"), error.needsKey ? "The server asks for an API key." : error.message);
    } else {
      setStatus("off", "No connection");
      show($("live-notice"), "The connection to the server was lost. This page tries again by itself.");
    }
  }
  if (!document.hidden) timer = setTimeout(poll, wait);
}

// The tab, or one that follows it, is shown or hidden.
export function setSeen(value, follows) {
  seen = value;
  followed = follows;
  poll();
}

// `changed` is called when other models serve, and `answered` with each answer of the server.
export function start(changed, answered) {
  onModels = changed;
  onLive = answered;
  makeTiles();
  $("unload-cancel").addEventListener("click", () => $("unload-dialog").close());
  document.addEventListener("visibilitychange", () => { if (!document.hidden) poll(); });
  window.addEventListener("online", poll);
  new ResizeObserver(() => requestAnimationFrame(draw)).observe($("live"));
  onKey(() => {
    failures = 0;
    poll();
  });
}
