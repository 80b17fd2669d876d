// The tab that shows what the server does now. It asks once a second while it is seen, and seldom otherwise.

import { $, ApiError, bytes, color, drawing, el, explain, milliseconds, number, onKey, request, show } from "./common.js";
import * as lanes from "./lanes.js";

const SHOWN = 60;     // snapshots: a minute
const RATE = 5;       // rates are of this many seconds
const SEEN = 1000;    // milliseconds between two snapshots
const UNSEEN = 10_000;
const MOST = 8000;    // the longest wait after a failure

let snapshots = [];   // the newest last
let history = [];     // the blocks of each worker
let seen = false;
let timer = 0;
let failures = 0;
let under = 0;        // counts the polls, so that a late answer to an old one is dropped
let onModels = () => {};
let known = null;     // the models that were ready last; null: not known

// --- what the tiles show ---

const sum = (live, take) => live.models.reduce((total, model) => total + (model.task ? take(model) : 0), 0);
const seconds = (from, to) => (to.now_ms - from.now_ms) / 1000;

// How fast a count grows, a second. A count that fell began anew: its model was loaded again.
function rate(take, over = RATE, at = snapshots.length - 1) {
  const to = snapshots[at];
  const from = snapshots[Math.max(0, at - over)];
  if (!from || from === to) return 0;
  return Math.max(0, take(to) - take(from)) / seconds(from, to);
}

function grown(take) {
  return snapshots.length < 2 ? 0 : Math.max(0, take(snapshots.at(-1)) - take(snapshots[0]));
}

// A quantile of what was observed in the last minute.
function quantile(name, q) {
  const counts = snapshots.at(-1).bounds.map(() => 0).concat(0);
  for (const model of snapshots.at(-1).models) {
    const before = snapshots[0].models.find((other) => other.name === model.name);
    if (!model[name]) continue;
    model[name].counts.forEach((count, i) => { counts[i] += count - (before?.[name]?.counts[i] ?? 0); });
  }
  const wanted = counts.at(-1) * q;
  if (!(counts.at(-1) > 0)) return NaN;
  const bounds = snapshots.at(-1).bounds;
  const i = counts.findIndex((count) => count >= wanted);
  if (i >= bounds.length) return bounds.at(-1);
  const below = i ? counts[i - 1] : 0;
  const low = i ? bounds[i - 1] : 0;
  return low + (bounds[i] - low) * (wanted - below) / (counts[i] - below || 1);
}

const ended = (live) => sum(live, (model) => model.ended.ok + model.ended.failed + model.ended.cancelled);
const audio = (live) => sum(live, (model) => model.audio_seconds);
const tokens = (live) => sum(live, (model) => model.tokens);
const refused = (live) => sum(live, (model) => model.refused) + live.refused_without_model;
const waiting = (live) => sum(live, (model) => model.queue.depth);

const TILES = [
  { title: "Requests", unit: "/s", value: () => number(rate(ended)), line: (i) => rate(ended, 2, i),
    note: (live) => `${live.in_flight} in flight, ${waiting(live)} waiting` },
  { title: "Speech", unit: "× real time", value: () => number(rate(audio)), line: (i) => rate(audio, 2, i),
    note: () => `${number(grown(audio))} s spoken in the last minute` },
  { title: "Translation", unit: "tokens/s", value: () => number(rate(tokens)), line: (i) => rate(tokens, 2, i),
    note: () => `${number(grown(tokens))} tokens in the last minute` },
  { title: "First audio", unit: "median", value: () => milliseconds(quantile("first_audio_seconds", 0.5)),
    note: () => `95 % within ${milliseconds(quantile("first_audio_seconds", 0.95))}, of the last minute` },
  { title: "Wait in the queue", unit: "median", value: () => milliseconds(quantile("queue_seconds", 0.5)),
    note: () => `95 % within ${milliseconds(quantile("queue_seconds", 0.95))}, of the last minute` },
  { title: "Refused", unit: "in a minute", value: () => number(grown(refused)), line: (i) => rate(refused, 2, i),
    note: (live) => `${number(refused(live))} since the start` },
  { title: "Processor", unit: "cores", value: () => number(rate((live) => live.cpu_seconds)), line: (i) => rate((live) => live.cpu_seconds, 2, i),
    note: (live) => `${live.workers.filter((worker) => worker.running).length} of ${live.workers.length} workers busy` },
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
  context.strokeStyle = color("--accent");
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.beginPath();
  values.forEach((value, i) => {
    const x = width - (values.length - 1 - i) * width / (SHOWN - 1);
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

function makeRow(name) {
  const row = { name: el("th", { scope: "row" }), state: el("td"), bar: el("span", { className: "bar-fill" }), depth: el("span"), rate: el("td", { className: "number" }),
    batch: el("td", { className: "number" }), refused: el("td", { className: "number" }), button: el("button", { type: "button", className: "quiet" }) };
  row.label = el("span", { className: "model" }, el("b", {}, name));
  row.kind = el("span", { className: "hint" });
  row.label.append(row.kind);
  row.name.append(row.label);
  row.badge = el("span", { className: "badge" });
  row.state.append(row.badge);
  row.queue = el("td", {}, el("span", { className: "queue-bar", "aria-hidden": "true" }, row.bar), row.depth);
  row.button.addEventListener("click", () => act(name, row.button.dataset.action));
  row.element = el("tr", {}, row.name, row.state, row.queue, row.rate, row.batch, row.refused, el("td", { className: "end" }, row.button));
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
  const of = (take) => (snapshot) => {
    const found = snapshot.models.find((other) => other.name === model.name);
    return found?.task ? take(found) : 0;
  };
  row.kind.textContent = `${model.task ?? ""}${model.task ? " · " : ""}version ${model.version}`;
  row.badge.textContent = STATES[model.state] ?? model.state;
  row.badge.dataset.state = model.state;
  row.badge.title = model.error ?? "";
  const loaded = Boolean(model.task);
  row.depth.textContent = loaded ? `${model.queue.depth} of ${model.queue.size}` : "–";
  row.bar.style.width = loaded ? `${Math.min(100, model.queue.depth / model.queue.size * 100)}%` : "0";
  row.rate.textContent = loaded ? number(rate(of((found) => found.ended.ok + found.ended.failed + found.ended.cancelled))) : "–";
  const batches = loaded ? grown(of((found) => found.batches.count)) : 0;
  row.batch.textContent = batches ? number(grown(of((found) => found.batches.requests)) / batches) : "–";
  row.refused.textContent = loaded ? number(model.refused) : "–";
  row.button.hidden = !live.may_admin;
  row.button.disabled = busy.has(model.name) || model.state === "LOADING";
  row.button.dataset.action = loaded ? "unload" : "load";
  row.button.textContent = busy.has(model.name) ? "Working" : loaded ? "Unload" : "Load";
  row.button.setAttribute("aria-label", `${row.button.textContent} ${model.name}`);
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
  element.replaceChildren(...entries.flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)]));
}

function drawFacts(live) {
  const cache = live.graph_cache;
  const hits = grown((snapshot) => snapshot.graph_cache.hits);
  const looked = hits + grown((snapshot) => snapshot.graph_cache.misses);
  list($("graph-cache"), [["Shapes", number(cache.entries)], ["Memory", bytes(cache.bytes)],
    ["Hits in the last minute", looked ? `${Math.round(hits / looked * 100)} % of ${number(looked)}` : "none asked for"],
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

function setStatus(state, text) {
  const status = $("status");
  if (status.dataset.state !== state) {
    status.dataset.state = state;
    $("status-text").textContent = text;
  }
}

function take(live) {
  const last = snapshots.at(-1);
  if (last && live.started_at !== last.started_at) {   // another process
    snapshots = [];
    history = [];
  }
  snapshots.push(live);
  if (snapshots.length > SHOWN) snapshots.shift();
  for (const model of live.models) lanes.modelColor(model.name);   // in this order
  lanes.keep(history, live);
  const ready = live.models.filter((model) => ["READY", "IDLE"].includes(model.state)).map((model) => model.name).join("\n");
  if (ready !== known) onModels();
  known = ready;
  show($("live-notice"), "");
  setStatus(live.ready ? "on" : "wait", live.ready ? "Serving" : "Not ready");
  draw();
}

async function poll() {
  clearTimeout(timer);
  const mine = ++under;
  let wait = seen ? SEEN : UNSEEN;
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

// The tab is shown or hidden.
export function setSeen(value) {
  seen = value;
  poll();
}

// `changed` is called when other models serve.
export function start(changed) {
  onModels = changed;
  makeTiles();
  document.addEventListener("visibilitychange", () => { if (!document.hidden) poll(); });
  window.addEventListener("online", poll);
  new ResizeObserver(() => requestAnimationFrame(draw)).observe($("live"));
  onKey(() => {
    failures = 0;
    poll();
  });
}
