"""The hot part of the voices in the formats that could run it: TorchScript, AOTInductor, eager PyTorch, and our own C++."""

import json
import subprocess
from pathlib import Path

from harness import clients, peers
from harness.context import interleaved, median, spread
from harness.models import KOKORO, SPEECH
from harness.processes import find_tool
from harness.report import Bar, Result

SHORT = {"repeats": 3, "seconds": None}
FULL = {"repeats": 7, "seconds": None}
SCRIPT = Path(__file__).resolve().parents[1] / "peers/formats.py"
NATIVE, EAGER = "native", "eager"
EXPORTED = {"torchscript": "pt", "aotinductor": "pt2", "torchscript-bfloat16": "bf16.pt", "aotinductor-bfloat16": "bf16.pt2"}
FORMATS = (NATIVE, EAGER, *EXPORTED)
TITLES = {NATIVE: "native C++", EAGER: "eager PyTorch", "torchscript": "TorchScript", "aotinductor": "AOTInductor",
          "torchscript-bfloat16": "TorchScript, bfloat16", "aotinductor-bfloat16": "AOTInductor, bfloat16"}
VOICES = {"kokoro": ("Kokoro", KOKORO, 24000), "vits": ("Piper", SPEECH, 22050)}
# One forward on one thread, one on two threads, two at once on a thread each in processes of their own.
MODES = ("1 thread", "2 threads", "two at once")
BOTH_CORES_SECONDS = 3
WARM = 2   # TorchScript optimises during these


class Runner:
    """A process that runs one format; the two protocols are the same."""

    def __init__(self, command, log):
        self.name = Path(command[0]).name
        self._log = open(log, "ab")
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True)
        self.pid = self._process.pid

    def begin(self, frames, threads, source, target="-"):
        self._process.stdin.write(f"{frames} {threads} {source} {target}\n")
        self._process.stdin.flush()

    def end(self):
        """(seconds on the clock, of the processor)"""
        line = self._process.stdout.readline()
        if not line:
            raise clients.LoadFailed(f"{self.name} ended with status {self._process.wait()}; see {self._log.name}")
        wall, cpu = map(float, line.split())
        return wall, cpu

    def stop(self):
        self._process.kill()
        self._process.wait()
        for file in (self._process.stdin, self._process.stdout, self._log):
            file.close()


def modes(context, seconds):
    """In the short version two cores speak the middle length only."""
    return MODES if context.args.full or seconds == BOTH_CORES_SECONDS else MODES[:1]


def run(context):
    import numpy as np
    from harness import sound

    python = str(peers.python("kokoro"))
    folder = context.out / "formats"
    folder.mkdir(exist_ok=True)
    trials, rows, bars = {}, [], []
    for voice, (title, package, rate) in VOICES.items():
        lengths = {int(seconds): frames for seconds, frames in
                   json.loads(clients.run([python, str(SCRIPT), "inputs", voice, str(folder)], 600)).items()}
        files = {kind: folder / f"{voice}.{ending}" for kind, ending in EXPORTED.items()}
        exports = {kind: context.trial(f"{title}: export to {kind}", lambda k=kind, f=file: json.loads(
            clients.run([python, str(SCRIPT), "export", voice, k, str(f)], 1800))) for kind, file in files.items()}
        commands = {kind: [python, str(SCRIPT), "serve", voice, kind, str(files.get(kind, "-"))] for kind in FORMATS}
        commands[NATIVE] = [str(find_tool(context.build, "millrace_hotpart")), voice, str(context.models / package / "1")]
        runners = {kind: [context.hold(Runner(context.server_command(command), folder / f"{voice}-{kind}.log")) for _ in range(2)]
                   for kind, command in commands.items()}

        def speak(kind, seconds, mode, target="-"):
            chosen = runners[kind][: 2 if mode == "two at once" else 1]
            for runner in chosen:
                runner.begin(lengths[seconds], 2 if mode == "2 threads" else 1, folder / f"{voice}-{seconds}.f32", target)
            ended = [runner.end() for runner in chosen]
            wall, cpu = max(wall for wall, _ in ended), sum(cpu for _, cpu in ended)
            return {"audio_rate": len(chosen) * seconds / wall, "cpu_per_audio_s": cpu / (len(chosen) * seconds)}

        for kind in FORMATS:
            for _ in range(WARM):
                speak(kind, min(lengths), "two at once")
            for seconds in lengths:
                speak(kind, seconds, "1 thread", folder / f"{voice}-{seconds}-{kind}.out")
        cases = [(kind, seconds, mode) for seconds in lengths for mode in modes(context, seconds) for kind in FORMATS]
        names = {f"{title}: {kind}, {seconds} s, {mode}": (kind, seconds, mode) for kind, seconds, mode in cases}
        measured = interleaved(context, list(names), lambda case: speak(*names[case]))
        trials |= measured
        by_case = {names[name]: results for name, results in measured.items()}
        for pair in runners.values():
            for runner in pair:
                context.stop(runner)

        def one_thread(kind, seconds):
            return median(by_case[kind, seconds, "1 thread"], "audio_rate")

        def two_cores(kind, seconds):
            return max(median(by_case[kind, seconds, mode], "audio_rate") for mode in modes(context, seconds)[1:])

        def samples(kind, seconds):
            return sound.Sound(np.fromfile(folder / f"{voice}-{seconds}-{kind}.out", np.float32).astype(np.float64), rate)

        longest = max(lengths)
        on_two = [seconds for seconds in lengths if len(modes(context, seconds)) > 1]
        for kind in FORMATS:
            pairs = [(samples(kind, seconds), samples(EAGER, seconds)) for seconds in lengths]
            far = max(float(np.abs(a.samples - b.samples).max()) for a, b in pairs)
            export = exports.get(kind)
            rows.append([title, TITLES[kind], *(f"{one_thread(kind, seconds):.2f}" for seconds in lengths),
                         spread(by_case[kind, longest, "1 thread"], "audio_rate"), *(f"{two_cores(kind, seconds):.2f}" for seconds in on_two),
                         f"{median(by_case[kind, longest, '1 thread'], 'cpu_per_audio_s'):.3f}", "" if kind == EAGER else f"{far:.1e}",
                         "" if kind == EAGER else f"{max(sound.log_mel_distance(a, b) for a, b in pairs):.3f}",
                         f"{export['seconds']:.0f}" if export else "", f"{export['bytes'] / 1e6:.0f}" if export else ""])
        others = [kind for kind in FORMATS if kind != NATIVE]
        for what, rate_of, spoken in (("one thread", one_thread, lengths), ("two cores", two_cores, on_two)):
            gain = min(rate_of(NATIVE, seconds) / max(rate_of(kind, seconds) for kind in others) for seconds in spoken)
            bars.append(Bar(f"{title}: native C++ on {what}, of the fastest other format, the length where that is least", f"{gain:.2f}x",
                            ">= 1x", gain >= 1))
    seconds = list(lengths)
    return Result(
        title="The hot part in each format",
        about="Seconds of audio per second of the hot part alone: of Kokoro the decoder and the generator (iSTFTNet), of Piper the inverse "
              "flow and the generator (VITS, HiFi-GAN). The same inputs for all, of "
              f"{', '.join(map(str, seconds[:-1]))} and {seconds[-1]} seconds; two cores: the better of one forward on two threads and two "
              "at once on a thread each. Differences are those of the samples from eager PyTorch's, the greatest and the mean one of the "
              "log mel spectra (80 bands). The modules are the package's own (Kokoro) and tests/load/peers/formats.py (Piper), exported "
              "once for all lengths; bfloat16 is autocast, with the source and the spectrum left in float32.",
        columns=["voice", "format", *(f"{s} s, 1 thread" for s in seconds), "lowest-highest", *(f"{s} s, 2 cores" for s in on_two),
                 f"CPU s per audio-s, {seconds[-1]} s", "greatest difference", "log mel dB", "export s", "MB"],
        rows=rows, bars=bars, trials=trials)
