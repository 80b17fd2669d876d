// The picture of what the workers do: a lane each, with the steps of the last ten seconds as blocks in their models' colours.

import { color, drawing, el } from "./common.js";

export const SPAN = 10_000;   // milliseconds that are shown
const LANE = 22;
const GAP = 6;
const LABEL = 26;

const COLORS = 6;
const places = new Map();     // the models' colours, in the order in which the models were seen

export function modelColor(model) {
  if (!places.has(model)) places.set(model, places.size % COLORS);
  return `--c${places.get(model) + 1}`;
}

// Adds the blocks of a snapshot and drops those that are too old to be seen.
export function keep(history, live) {
  live.workers.forEach((worker, i) => {
    const lane = history[i] ??= [];
    for (const [begin, end, model, requests, steps] of worker.blocks) {
      const block = { begin, end, model: live.names[model], requests, steps };
      // The newest block of the last snapshot may have grown since.
      if (lane.length && lane.at(-1).begin === begin) lane[lane.length - 1] = block;
      else lane.push(block);
    }
    const kept = lane.findIndex((block) => block.end > live.now_ms - SPAN);
    lane.splice(0, kept < 0 ? lane.length : kept);
  });
  history.length = live.workers.length;
}

export function draw(canvas, history, live) {
  canvas.style.height = `${history.length * (LANE + GAP) + 18}px`;
  const { context, width, height } = drawing(canvas);
  const left = LABEL;
  const across = width - left;
  const x = (time) => left + Math.max(0, 1 - (live.now_ms - time) / SPAN) * across;
  const styles = new Map();
  const style = (model) => {
    if (!styles.has(model)) styles.set(model, color(modelColor(model)));
    return styles.get(model);
  };
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  const line = color("--line");
  const muted = color("--muted");
  for (let second = 0; second <= SPAN / 1000; second += 2) {
    const at = Math.round(left + across - second * 1000 / SPAN * across) - 0.5;
    context.fillStyle = line;
    context.fillRect(at, 0, 1, height - 16);
    context.fillStyle = muted;
    context.textAlign = second === 0 ? "right" : second * 1000 === SPAN ? "left" : "center";
    context.fillText(second === 0 ? "now" : `−${second} s`, at, height - 7);
  }
  history.forEach((lane, i) => {
    const top = i * (LANE + GAP);
    context.fillStyle = color("--lane");
    context.fillRect(left, top, across, LANE);
    context.fillStyle = muted;
    context.textAlign = "left";
    context.fillText(String(i + 1), 4, top + LANE / 2);
    for (const block of lane) {
      const from = x(block.begin);
      context.fillStyle = style(block.model);
      context.fillRect(from, top + 2, Math.max(1, x(block.end) - from), LANE - 4);
    }
    const running = live.workers[i].running;
    if (running) {
      const from = x(running.begin_ms);
      context.fillStyle = style(live.names[running.model]);
      context.fillRect(from, top, Math.max(3, left + across - from), LANE);
    }
  });
}

// The words say what the picture shows.
export function describe(history, live) {
  return live.workers.map((worker, i) => {
    const busy = history[i].reduce((sum, block) => sum + block.end - Math.max(block.begin, live.now_ms - SPAN), 0);
    const share = Math.min(100, Math.round(busy / SPAN * 100));
    const now = worker.running ? `runs ${live.names[worker.running.model]} for ${worker.running.requests} requests` : "is idle";
    return `Worker ${i + 1} ${now} and was busy for ${share} % of the time.`;
  }).join(" ");
}

export function legend(element, models) {
  const wanted = models.join("\n");
  if (element.dataset.models === wanted) return;
  element.dataset.models = wanted;
  element.replaceChildren(...models.map((model) => {
    const swatch = el("span", { className: "swatch" });
    swatch.style.background = `var(${modelColor(model)})`;
    return el("span", {}, swatch, model);
  }));
}
