// The tab that speaks: text to speech, heard while it is made.

import { $, MOST_KEPT, clock, color, curlKey, drawing, el, events, explain, keyNeeded, languageName, milliseconds, onKey, python, quoted, recall,
  remember, request, save, show, snippet } from "./common.js";
import { Player } from "./player.js";

// Two sentences of each language, as the voices can read them: Japanese is in kana, with particles as they are said.
const SAMPLES = {
  de: ["Guten Morgen. Die Kinder spielten im Garten.", "Wo ist der nächste Bahnhof?"],
  en: ["The quick brown fox jumps over the lazy dog.", "How razorback-jumping frogs can level six piqued gymnasts!"],
  es: ["Buenos días. Los niños jugaban en el jardín.", "¿Dónde está la estación más cercana?"],
  fr: ["Bonjour. Les enfants jouaient dans le jardin.", "Où se trouve la gare la plus proche ?"],
  hi: ["नमस्ते। बच्चे बगीचे में खेल रहे थे।", "सबसे नज़दीकी स्टेशन कहाँ है?"],
  it: ["Buongiorno. I bambini giocavano in giardino.", "Dov’è la stazione più vicina?"],
  ja: ["おはよう ございます。こどもたち わ にわ で あそんで いました。", "えき わ どこ です か？"],
  nl: ["Goedemorgen. De kinderen speelden in de tuin.", "Waar is het dichtstbijzijnde station?"],
  pl: ["Dzień dobry. Dzieci bawiły się w ogrodzie.", "Gdzie jest najbliższa stacja?"],
  pt: ["Bom dia. As crianças brincavam no jardim.", "Onde fica a estação mais próxima?"],
  ru: ["Доброе утро. Дети играли в саду.", "Где находится ближайшая станция?"],
  zh: ["早上好。孩子们在花园里玩耍。", "最近的车站在哪里？"],
};

// The same sentences in each format of a text. Only English has readings of numbers.
const FORMS = {
  text: ([first, second]) => `${first} ${second}`,
  tags: ([first, second]) => `${first} [pause:1s] [rate:120%]${second} [rate:default][volume:soft]${first}`,
  ssml: ([first, second], code) => `<speak>\n  ${first} <break time="1s"/>\n  <prosody rate="120%">${second}</prosody>\n`
    + (code === "en" ? `  <p>Call <say-as interpret-as="telephone">555-0142</say-as> today.</p>\n` : "") + "</speak>",
};

// Empty: there is no sample of the language.
function sample(language, format) {
  const code = language.split("-")[0];
  return SAMPLES[code] ? FORMS[format](SAMPLES[code], code) : "";
}

const ALL_SAMPLES = new Set(Object.keys(SAMPLES).flatMap((code) => Object.keys(FORMS).map((format) => sample(code, format))));
const isSample = (text) => text === "" || ALL_SAMPLES.has(text);

export const player = new Player(changed);
let voices = [];
let words = [];          // { start, end, element }, of what is spoken
let spoken = null;       // the request that is heard
let controller = null;   // of the request under way
let lit = null;
let frame = 0;

// What the person chose: { voice, language, mix: [[id, weight]], speed, format, text }. It stays while the voice is not there, as when the
// server starts again.
const wanted = recall("speak");

const keyOf = (voice) => `${voice.model}/${voice.id}`;
const chosenVoice = () => voices.find((voice) => keyOf(voice) === $("speak-voice").value);

function keep(changes) {
  Object.assign(wanted, changes);
  remember("speak", wanted);
}

const mixOf = () => ($("mix").hidden ? [] : [...$("mix-rows").children].map((row) =>
  [row.querySelector("select").value, Number(row.querySelector("input").value)]));

// Returns the voices that are mixed with their shares in percent. The voice itself is the first and has what the others leave.
function shares(voice) {
  const others = mixOf();
  const total = others.reduce((sum, [, weight]) => sum + weight, 1);
  const theirs = others.map(([id, weight]) => [id, Math.max(1, Math.floor(weight / total * 100))]);
  return [[voice.id, 100 - theirs.reduce((sum, [, share]) => sum + share, 0)], ...theirs];
}

function mixed(voice) {
  const all = shares(voice);
  return all.length === 1 ? voice.id : all.map(([id, share]) => `${id}:${share / 100}`).join("+");
}

// The request as it stands in the form; format: "mp3" and others.
function build(format) {
  const voice = chosenVoice();
  const body = { model: voice?.model ?? "tts-1", input: $("speak-text").value, voice: voice ? mixed(voice) : undefined };
  const language = $("speak-language").value;
  if (language) body.language = language;
  const speed = Number($("speak-speed").value);
  if (speed !== 1) body.speed = speed;
  if ($("speak-format").value !== "text") body.text_format = $("speak-format").value;
  body.response_format = format;
  return body;
}

const refresh = snippet($("speak-snippet"), {
  curl: (body) => `curl ${location.origin}/v1/audio/speech \\\n  -H 'Content-Type: application/json' \\\n`
    + `${curlKey()}  -d ${quoted(JSON.stringify(body, null, 1))} \\\n  -o speech.${body.response_format}`,
  Python: (body) => {
    const { model, input, voice, response_format, speed, ...others } = body;
    const lines = [`model=${python(model)}, voice=${python(voice ?? "alloy")}, response_format=${python(response_format)},`,
      ...(speed === undefined ? [] : [`speed=${speed},`]),
      ...(Object.keys(others).length ? [`extra_body=${python(others)},`] : []),
      `input=${python(input)}`];
    const key = keyNeeded() ? `os.environ["MILLRACE_API_KEY"]` : `"unused"`;
    return `${keyNeeded() ? "import os\n" : ""}from openai import OpenAI\n\nclient = OpenAI(base_url="${location.origin}/v1", api_key=${key})\n`
      + `speech = client.audio.speech.create(\n    ${lines.join("\n    ")})\nspeech.write_to_file("speech.${response_format}")`;
  },
});

function refreshRequest() {
  const text = $("speak-text").value;
  $("speak-count").textContent = text ? `${[...text].length.toLocaleString("en")} characters` : "";
  $("speak-speed-value").textContent = `${Number($("speak-speed").value).toFixed(2)}×`;
  $("speak-speed").setAttribute("aria-valuetext", `${$("speak-speed").value} times`);
  if (!$("mix").hidden) showShares();
  refresh(build($("download-format").value));
}

// --- voices ---

const NO_VOICES = "No model that speaks is loaded.";

export async function load() {
  const answer = await (await request("/v1/audio/voices", { quiet: true })).json();
  voices = answer.voices;
  const groups = new Map();
  for (const voice of voices) {
    if (!groups.has(voice.model)) groups.set(voice.model, el("optgroup", { label: voice.model }));
    groups.get(voice.model).append(el("option", { value: keyOf(voice) }, `${voice.id} · ${languageName(voice.language)}`));
  }
  const select = $("speak-voice");
  select.replaceChildren(...groups.values());
  const first = voices.find((voice) => voice.language.startsWith("en")) ?? voices[0];
  const chosen = voices.find((voice) => keyOf(voice) === wanted.voice) ?? first;
  if (chosen) select.value = keyOf(chosen);
  $("speak-go").disabled = voices.length === 0;
  select.disabled = voices.length === 0;
  if (voices.length === 0) show($("speak-error"), NO_VOICES);
  else if ($("speak-error").textContent === NO_VOICES) show($("speak-error"), "");
  showVoice();
}

// Shows what can be chosen with the voice, and of that what the person wanted.
function showVoice() {
  const voice = chosenVoice();
  if (!voice) return refreshRequest();
  const own = keyOf(voice) === wanted.voice;
  const language = own && voice.languages.includes(wanted.language) ? wanted.language
    : voice.languages.includes(voice.language) ? voice.language : voice.languages[0] ?? "";
  $("speak-language").replaceChildren(...voice.languages.map((tag) => el("option", { value: tag }, languageName(tag))));
  $("speak-language").value = language;
  const others = voices.filter((other) => other.model === voice.model && other.id !== voice.id).map((other) => other.id);
  $("mix").hidden = others.length === 0;
  const mix = own && Array.isArray(wanted.mix) ? wanted.mix.filter(([id]) => others.includes(id)) : [];
  $("mix-rows").replaceChildren(...mix.map(([id, weight]) => mixRow(others, id, weight)));
  if (mix.length) $("mix").open = true;
  takeSample();
}

function takeSample() {
  const text = $("speak-text");
  // A text of the person's own stays, and so does the one that is about to be written.
  if (isSample(text.value) && (text.value || document.activeElement !== text)) text.value = sample($("speak-language").value, $("speak-format").value);
  text.placeholder = `Type or paste a text in ${languageName($("speak-language").value || "en")}`;
  refreshRequest();
}

function mixRow(others, id, weight) {
  const select = el("select", { "aria-label": "Voice" }, ...others.map((other) => el("option", {}, other)));
  select.value = id;
  const range = el("input", { type: "range", min: "0.1", max: "2", step: "0.1", value: String(weight), "aria-label": "Weight beside the voice above", title: "Weight beside the voice above" });
  const remove = el("button", { type: "button", className: "quiet", "aria-label": "Remove this voice" }, "Remove");
  const row = el("div", { className: "mix-row" }, select, range, el("output"), remove);
  remove.addEventListener("click", () => {
    row.remove();
    $("mix-add").focus();
    mixChanged();
  });
  return row;
}

function addVoice() {
  const voice = chosenVoice();
  const others = voices.filter((other) => other.model === voice.model && other.id !== voice.id).map((other) => other.id);
  const row = mixRow(others, others[0], 1);
  $("mix-rows").append(row);
  row.querySelector("select").focus();
  mixChanged();
}

function mixChanged() {
  keep({ voice: $("speak-voice").value, mix: mixOf() });
  refreshRequest();
}

function showShares() {
  const voice = chosenVoice();
  const [[, own], ...others] = voice ? shares(voice) : [["", 100]];
  $("mix-own").textContent = others.length ? `${voice.id} itself has ${own} %` : "";
  [...$("mix-rows").children].forEach((row, i) => {
    row.querySelector("output").textContent = `${others[i][1]} %`;
    row.querySelector("input").setAttribute("aria-valuetext", `${others[i][1]} percent`);
  });
}

// --- speaking ---

const decode = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

async function speak() {
  const voice = chosenVoice();
  if (!voice) return;  // the voices are not known yet
  stop();
  show($("speak-error"), "");
  if (!$("speak-text").value.trim()) {
    $("speak-state").textContent = "There is no text to speak.";
    $("speak-text").focus();
    return;
  }
  const mine = controller = new AbortController();
  spoken = build("pcm");
  const body = { ...spoken, sample_rate: voice.sample_rate, stream_format: "sse", timestamps: ["word"] };
  player.reset(voice.sample_rate);
  player.play();
  layOut(spoken.input, spoken.language);
  $("speak-stop").disabled = false;
  $("download").disabled = true;
  $("speak-state").textContent = "Waiting for the first sound";
  const start = performance.now();
  let first = null;
  let error = null;
  try {
    let done = false;
    for await (const event of events(await request("/v1/audio/speech", { body, signal: mine.signal }))) {
      if (event.error) throw new Error(event.error.message);
      if (event.type === "speech.timestamps") light(event.words ?? []);
      if (event.type === "speech.audio.delta") {
        first ??= (performance.now() - start) / 1000;
        player.push(decode(event.audio));
        $("speak-state").textContent = `First sound after ${milliseconds(first)}`;
      }
      done ||= event.type === "speech.audio.done";
    }
    if (!done) throw new TypeError("cut off");
  } catch (failure) {
    error = failure;
  }
  if (controller !== mine) return;   // another request has begun
  controller = null;
  player.end();
  const made = (performance.now() - start) / 1000;
  if (error && error.name !== "AbortError") {
    show($("speak-error"), first === null ? explain(error) : `${explain(error)} What had come can still be heard.`);
    $("speak-error").scrollIntoView({ block: "nearest" });   // on a phone it is below the form
    $("speak-state").textContent = "";
  } else if (first !== null) {
    $("speak-state").textContent = `First sound after ${milliseconds(first)}; ${player.duration.toFixed(1)} s of speech in ${milliseconds(made)}`;
  } else {
    $("speak-state").textContent = "Stopped";
  }
  $("download").disabled = player.length === 0;
}

function stop() {
  controller?.abort();
  player.pause();
  $("speak-stop").disabled = true;
}

// --- the words ---

function layOut(text, language) {
  words = [];
  lit = null;
  $("reading").lang = language ?? "";
  $("reading").replaceChildren(el("p", {}, text));
}

// Returns the index in UTF-16 units of what follows `count` characters after index `from`.
function after(text, from, count) {
  let at = from;
  for (; count > 0 && at < text.length; --count) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

// Wraps the words of a sentence in elements. They come in the order of the text, and their offsets count characters.
function light(times) {
  const paragraph = $("reading").firstElementChild;
  for (const { text, start, end, character_offset: offset } of times) {
    const rest = paragraph.lastChild;
    const before = words.length ? words.at(-1).until : 0;
    if (offset < before || !(rest instanceof Text)) continue;
    const from = after(rest.data, 0, offset - before);
    const length = [...text].length;
    if (rest.data.slice(from, from + text.length) !== text) continue;
    const word = rest.splitText(from);
    paragraph.append(word.splitText(text.length));
    const element = el("span", { className: "word" }, text);
    word.replaceWith(element);
    words.push({ start, end, element, until: offset + length });
  }
}

function lightUp(position) {
  const word = player.playing || position > 0 ? words.findLast((candidate) => candidate.start <= position) : undefined;
  const element = word && position < word.end + 0.15 ? word.element : null;
  if (element === lit) return;
  lit?.classList.remove("lit");
  element?.classList.add("lit");
  lit = element;
  if (element && player.playing) element.scrollIntoView({ block: "nearest" });
}

// --- the picture ---

function changed() {
  if (!frame) frame = requestAnimationFrame(draw);
}

function draw() {
  frame = 0;
  const { position, duration } = player;
  if (player.playing && player.finished) {
    player.pause();
    $("speak-stop").disabled = true;
  }
  $("play").disabled = player.length === 0;
  $("play").setAttribute("aria-label", player.playing ? "Pause" : "Play");
  $("play").classList.toggle("playing", player.playing);
  $("time").textContent = `${clock(position)} / ${clock(duration)}`;
  const wave = $("wave");
  wave.setAttribute("aria-valuemax", duration.toFixed(1));
  wave.setAttribute("aria-valuenow", position.toFixed(1));
  wave.setAttribute("aria-valuetext", `${Math.floor(position)} of ${Math.floor(duration)} seconds`);
  drawWave(wave, position, duration);
  lightUp(position);
  if (player.playing && !document.hidden) changed();
}

function drawWave(canvas, position, duration) {
  const { context, width, height } = drawing(canvas);
  const step = 3;
  const bars = Math.floor(width / step);
  const peaks = player.peaks;
  const shown = Math.max(peaks.length, 50);   // a second at least
  const played = duration ? position / duration : 0;
  const heard = color("--accent");
  const silent = color("--line-strong");
  for (let i = 0; i < bars; ++i) {
    const from = Math.floor(i * shown / bars);
    const to = Math.max(from + 1, Math.floor((i + 1) * shown / bars));
    let peak = 0;
    for (let k = from; k < to && k < peaks.length; ++k) peak = Math.max(peak, peaks[k] ?? 0);
    const size = Math.max(2, peak / (player.loudest || 1) * (height - 4));
    context.fillStyle = duration && (i + 0.5) / bars <= played * peaks.length / shown ? heard : silent;
    context.fillRect(i * step, (height - size) / 2, 2, size);
  }
}

async function download() {
  const format = $("download-format").value;
  show($("speak-error"), "");
  if (format === "wav") return save(player.wav(), "speech.wav");
  $("download").disabled = true;
  try {
    const response = await request("/v1/audio/speech", { body: { ...spoken, response_format: format } });
    save(await response.blob(), `speech.${format}`);
  } catch (error) {
    show($("speak-error"), explain(error));
  }
  $("download").disabled = false;
}

export function start() {
  $("speak-form").addEventListener("submit", (event) => {
    event.preventDefault();
    speak();
  });
  $("speak").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      speak();
    }
    if (event.key === "Escape") stop();
  });
  $("speak-stop").addEventListener("click", stop);
  $("play").addEventListener("click", () => (player.playing ? player.pause() : player.play()));
  $("wave").addEventListener("click", (event) => {
    const box = $("wave").getBoundingClientRect();
    const shown = Math.max(player.peaks.length, 50) / 50;
    player.seek((event.clientX - box.left) / box.width * shown);
  });
  $("wave").addEventListener("keydown", (event) => {
    const to = { ArrowLeft: player.position - 1, ArrowRight: player.position + 1, Home: 0, End: player.duration }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    player.seek(to);
  });
  $("reading").addEventListener("click", (event) => {
    const word = words.find(({ element }) => element === event.target);
    if (word) player.seek(word.start);
  });
  $("speak-voice").addEventListener("change", () => {
    keep({ voice: $("speak-voice").value, language: undefined, mix: [] });
    showVoice();
  });
  $("speak-language").addEventListener("change", () => {
    keep({ voice: $("speak-voice").value, language: $("speak-language").value, mix: mixOf() });
    takeSample();
  });
  $("speak-format").addEventListener("change", () => {
    keep({ format: $("speak-format").value });
    takeSample();
  });
  $("speak-text").addEventListener("input", () => {
    const text = $("speak-text").value;
    keep({ text: isSample(text) || text.length > MOST_KEPT ? undefined : text });
    refreshRequest();
  });
  $("speak-speed").addEventListener("input", () => {
    keep({ speed: $("speak-speed").value });
    refreshRequest();
  });
  $("mix-rows").addEventListener("input", mixChanged);
  $("mix-add").addEventListener("click", addVoice);
  $("download").addEventListener("click", download);
  $("download-format").addEventListener("input", refreshRequest);
  document.addEventListener("visibilitychange", changed);
  new ResizeObserver(changed).observe($("wave"));
  onKey(refreshRequest);
  if (wanted.text) $("speak-text").value = wanted.text;
  if (FORMS[wanted.format]) $("speak-format").value = wanted.format;
  if (wanted.speed) $("speak-speed").value = wanted.speed;
  refreshRequest();
}

export const redraw = changed;
