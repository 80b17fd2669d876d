#!/usr/bin/env python3
"""A page of listening samples: each voice of the repository says a few texts, in float32 and, where the processor can, in int8; for each the
audio, its spectrogram and what can be measured of it. Run by scripts/samples.sh.

Usage: samples.py [OUT]      (default var/samples; open OUT/index.html)"""

import html
import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from harness import machine
from harness.models import FLOAT32, INT8, link_voice
from harness.processes import Server, ServerFailed
from harness.sound import measure, read_wav

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {
    "en": ["Good morning.",
           "Please take a seat; the doctor will see you shortly.",
           "Did you really walk all the way from the station, in this weather, with two suitcases?",
           "On 21 March 2026 Dr. Smith paid $3.50 for 2.5 kg of apples at 10:45 a.m.",
           "When the snow began to melt, the little stream behind the mill turned into a river, and for three days nobody could "
           "cross the wooden bridge without getting wet to the knees."],
    "es": ["Buenos días.", "¿Dónde está la biblioteca? Compré 2,5 kilos de manzanas y un pingüino."],
    "fr-FR": ["Bonjour.", "« Où est la bibliothèque ? » J'ai acheté vingt-trois croissants pour 3,50 euros."],
    "hi": ["नमस्ते।", "मेरा नाम राहुल है। क्या आप हिन्दी बोलते हैं?"],
    "it": ["Buongiorno.", "Dov'è la biblioteca? Gli gnocchi della nonna sono ottimi, ragazzi."],
    "ja": ["おはよう ございます。", "きょうは とても いい てんき です ね。"],
    "pt-BR": ["Bom dia.", "Onde fica a biblioteca? Três milhões de limões e um pão."],
}
# Kokoro's names say by their first letter of which language a voice is; those of others are English.
VOICE_LANGUAGES = {"e": "es", "f": "fr-FR", "h": "hi", "i": "it", "j": "ja", "p": "pt-BR"}
COLUMNS = {"seconds": ("s", ".2f"), "level_db": ("level dB", ".1f"), "loudest_db": ("loudest dB", ".1f"), "peak": ("peak", ".2f"),
           "clipped": ("clipped samples", "d"), "silence_before_s": ("silence before s", ".2f"),
           "silence_after_s": ("after s", ".2f"), "longest_pause_s": ("longest pause s", ".2f"),
           "pitch_low_hz": ("pitch 5 % Hz", ".0f"), "pitch_hz": ("median Hz", ".0f"), "pitch_high_hz": ("95 % Hz", ".0f")}


def get(url):
    with urllib.request.urlopen(url, timeout=10) as response:
        return json.load(response)


def speech_models(http_port):
    url = f"http://127.0.0.1:{http_port}/v2/models"
    described = [get(f"{url}/{model['name']}") for model in get(url)["models"]]
    return [model for model in described if model.get("voices")]


def spectrogram(sound, path):
    figure, axes = plt.subplots(figsize=(9, 2.6), dpi=100)
    axes.specgram(sound.samples + 1e-9, NFFT=1024, Fs=sound.rate, noverlap=768, vmin=-140, vmax=-40, cmap="magma")
    axes.set(xlabel="s", ylabel="Hz", ylim=(0, 8000))
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def spoken(model):
    """(language, voice): each voice in its own language, and the first also in the model's."""
    default = model["languages"][0]
    for index, voice in enumerate(model["voices"]):
        own = VOICE_LANGUAGES.get(voice[0]) if re.match("[a-z][fm]_", voice) else default
        if own not in model["languages"]:
            own = default
        yield own, voice
        if index == 0 and own != default:
            yield default, voice


def speak(address, model, voice, language, text, path):
    subprocess.run([ROOT / "build/millrace", "synthesize", text, "-o", path, "--address", address, "--model", model, "--voice", voice,
                    "--language", language], check=True, stdout=subprocess.DEVNULL)


def page(rows):
    head = "".join(f"<th>{html.escape(title)}</th>" for title, _ in COLUMNS.values())
    parts = ["<!doctype html><meta charset=utf-8><title>Millrace: listening samples</title>",
             "<style>body{font:15px sans-serif;margin:2em;max-width:70em}td,th{padding:.2em .7em;text-align:right}"
             "img{max-width:100%}h2{margin-top:2em}</style><h1>Listening samples</h1>"]
    voice = None
    for row in rows:
        if row["voice"] != voice:
            voice = row["voice"]
            parts.append(f"<h2>{html.escape(voice)}</h2>")
        cells = "".join(f"<td>{row['figures'][name]:{spec}}</td>" for name, (_, spec) in COLUMNS.items())
        parts.append(f"<p>{html.escape(row['text'])}</p><audio controls preload=none src='{row['file']}.wav'></audio>"
                     f"<img src='{row['file']}.png' alt='spectrogram'><table><tr>{head}</tr><tr>{cells}</tr></table>")
    return "\n".join(parts)


def link_voices(folder):
    """All voices, in both precisions where the processor has dot products of int8."""
    both = {"amx_int8", "avx512_vnni", "avx_vnni"} & machine.cpu_flags()
    voices = [path.parents[1] for path in sorted((ROOT / "var/models").glob("*/1/model.pbtxt")) if re.search(r"^(kokoro|vits) \{", path.read_text(), re.M)]
    if not voices:
        raise SystemExit("samples: no voice is in var/models; run make models")
    for voice in voices:
        for precision in (FLOAT32, INT8) if both else (FLOAT32,):
            link_voice(voice, precision, folder)


def main(argv):
    # Beside the models, whose files are linked.
    with tempfile.TemporaryDirectory(prefix="samples-", dir=ROOT / "var") as models:
        link_voices(Path(models))
        speak_all(models, argv)


def speak_all(models, argv):
    out = Path(argv[0] if argv else ROOT / "var/samples").resolve()
    out.mkdir(parents=True, exist_ok=True)
    ports = out / "ports.json"
    command = [str(ROOT / "build/millrace"), "serve", "--models", models, "--keep-packed-weights", "false", "--grpc-address", "127.0.0.1:0",
               "--http-address", "127.0.0.1:0", "--metrics-address", "off", "--port-file", str(ports)]
    rows = []
    with Server("millrace", command, ports, out / "server.log", 120) as server:
        for model in speech_models(server.ports["http"]):
            for language, voice in spoken(model):
                for index, text in enumerate(TEXTS.get(language, TEXTS["en"])):
                    name = f"{model['name']}-{voice}-{language}-{index}"
                    print(f"    {name}", flush=True)
                    speak(server.address, model["name"], voice, language, text, out / f"{name}.wav")
                    sound = read_wav(out / f"{name}.wav")
                    spectrogram(sound, out / f"{name}.png")
                    rows.append({"voice": f"{model['name']}: {voice}, {language}", "text": text, "file": name, "figures": measure(sound)})
    (out / "index.html").write_text(page(rows))
    (out / "figures.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False))
    for name in ("clipped", "longest_pause_s", "level_db", "pitch_hz"):
        values = np.array([row["figures"][name] for row in rows])
        print(f"    {name}: {values.min():.2f} to {values.max():.2f}")
    print(f"    {out / 'index.html'}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ServerFailed, subprocess.CalledProcessError) as error:
        raise SystemExit(f"samples: {error}") from None
