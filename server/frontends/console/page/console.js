// The page: its tabs, its theme and its key.

import { $, hasKey, onKey, recall, remember, setKey, setKeyPrompt } from "./common.js";
import * as live from "./live.js";
import * as shelf from "./shelf.js";
import * as speak from "./speak.js";
import * as translate from "./translate.js";

// --- tabs ---

const TABS = ["speak", "translate", "live", "shelf"];

function choose(name, focus) {
  for (const other of TABS) {
    const chosen = other === name;
    const tab = $(`tab-${other}`);
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen && focus) tab.focus();
    $(other).hidden = !chosen;
  }
  document.title = `${$(`tab-${name}`).textContent} · Millrace`;
  // The slash keeps the browser from taking the tab's panel for what the address points at, and its keyboard focus from beginning there.
  if (location.hash !== `#/${name}`) history.replaceState(null, "", `#/${name}`);
  shelf.setSeen(name === "shelf");
  live.setSeen(name === "live", name === "shelf");
  if (name === "speak") speak.redraw();
}

TABS.forEach((name, i) => {
  const tab = $(`tab-${name}`);
  tab.addEventListener("click", () => choose(name));
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowRight: i + 1, ArrowLeft: i + TABS.length - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(TABS[to % TABS.length], true);
  });
});

// --- theme ---

const dark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  $("theme-button").setAttribute("aria-pressed", String(theme === "dark"));
  speak.redraw();
  live.draw();
}

// The theme is the system's until the person chooses the other one.
const systemTheme = () => (dark.matches ? "dark" : "light");
const view = recall("view");

setTheme(view.theme ?? systemTheme());
dark.addEventListener("change", () => setTheme(view.theme ?? systemTheme()));
$("theme-button").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  if (theme === systemTheme()) delete view.theme;
  else view.theme = theme;
  remember("view", view);
  setTheme(theme);
});

// --- key ---

const KEY_HINT = $("key-hint").textContent;

function askForKey(message) {
  if ($("key-dialog").open) return;
  $("key-hint").textContent = message ? `${hasKey() ? "The server does not know this key." : "This server asks for a key."} ${KEY_HINT}` : KEY_HINT;
  $("key").value = "";
  $("key-dialog").showModal();
}

setKeyPrompt(askForKey);
$("key-button").addEventListener("click", () => askForKey());
$("key-cancel").addEventListener("click", () => $("key-dialog").close());
$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  $("key-dialog").close();
  setKey($("key").value.trim());
  $("key").value = "";
});
onKey(() => $("key-button").classList.toggle("on", hasKey()));

// --- begin ---

// A list of voices or languages that fails now comes with the next change of the models.
function load() {
  for (const part of [speak, translate]) part.load().catch(() => {});
}

speak.start();
translate.start();
shelf.start(() => live.setSeen(!$("live").hidden, !$("shelf").hidden));
live.start(load, shelf.follow);
const named = () => TABS.find((name) => location.hash === `#/${name}`) ?? "speak";
choose(named());
window.addEventListener("hashchange", () => choose(named()));
