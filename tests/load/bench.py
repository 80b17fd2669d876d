#!/usr/bin/env python3
"""Load tests and benchmarks of the daemon. Run by scripts/load.sh, which builds and installs what is needed first.

Each scenario starts its own servers on free ports of loopback, warms them, interleaves what it compares, and takes medians. Results
go to var/load/NAME.json; with --publish also into docs/benchmarks and docs/. An interrupted run goes on with --resume."""

import argparse
import datetime
import os
import shlex
import signal
import statistics
import sys
from pathlib import Path

from harness import instruction_sets, machine, report
from harness.clients import LoadFailed
from harness.context import Context
from harness.processes import ServerFailed
from scenarios import (
    capacity,
    console,
    executors,
    fairness,
    first_audio,
    first_word,
    fleet,
    fleet_prediction,
    fleet_simulation,
    formats,
    ghz,
    http_overhead,
    kserve_rest,
    long_text,
    memory,
    metrics_cost,
    null,
    one_request,
    opus_peers,
    overload,
    overload_long,
    pivot,
    pull,
    ray,
    soak,
    speech,
    speech_cache,
    speech_int8,
    speech_peers,
    startup,
    stream,
    traces,
    translate,
    translation_peers,
    websocket,
)

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "docs" / "benchmarks"
PLOT_FOLDER = "docs"
SCENARIOS = {"startup": startup, "null": null, "metrics-cost": metrics_cost, "traces": traces, "ghz": ghz, "translate": translate,
             "speech": speech, "speech-cache": speech_cache,
             "speech-peers": speech_peers, "speech-int8": speech_int8, "translation-peers": translation_peers, "opus-peers": opus_peers, "first-word": first_word,
             "pivot": pivot, "pull": pull, "formats": formats, "stream": stream, "first-audio": first_audio, "one-request": one_request,
             "long-text": long_text, "memory": memory, "websocket": websocket, "console": console, "fairness": fairness, "http-overhead": http_overhead, "kserve-rest": kserve_rest, "overload": overload, "overload-long": overload_long, "capacity": capacity,
             "fleet": fleet, "fleet-prediction": fleet_prediction, "fleet-simulation": fleet_simulation, "executors": executors, "ray": ray, "soak": soak}
LONG = ("capacity", "console", "executors", "fleet", "fleet-prediction", "fleet-simulation", "formats", "opus-peers", "overload", "overload-long", "pull", "ray", "soak", "speech-cache", "speech-int8")  # not part of the short run


def absolute(path):
    return Path(path).resolve()   # the generators run in another folder


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="scripts/load.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO",
                        help=f"of {', '.join(SCENARIOS)}, or report; default: all but {', '.join(LONG)}, with --full all")
    parser.add_argument("--full", action="store_true", help="as many and as long trials as the published figures need; publishes")
    parser.add_argument("--publish", action="store_true", help="write the sections of docs/benchmarks and the plots in docs/")
    parser.add_argument("--resume", action="store_true", help="take up the trials that an interrupted run has finished")
    parser.add_argument("--repeats", type=int, help="trials of each case")
    parser.add_argument("--seconds", type=int, help="length of a trial, where it has one")
    parser.add_argument("--minutes", type=float, help="length of the soak, and of the kills of executors, which is 10 at most: 30 with --full, else 3")
    parser.add_argument("--target-p95-ms", type=float, default=300, help="capacity: the latency that 95 %% of the calls must keep, default 300")
    parser.add_argument("--build", type=absolute, default=ROOT / "build", help="folder with the programs")
    parser.add_argument("--models", type=absolute, default=ROOT / "var/models", help="model repository")
    parser.add_argument("--out", type=absolute, default=ROOT / "var/load", help="results, logs and journals")
    parser.add_argument("--server-flag", action="append", default=[], metavar="FLAG", help="added to `millrace serve`, as --server-flag=--x=y")
    parser.add_argument("--server-cpus", type=machine.parse_cpus, metavar="LIST",
                        help="keep the servers on these CPUs, as 0,1 or 0-3, and the generators on the others (Linux)")
    parser.add_argument("--cpu-isa", choices=instruction_sets.VARIABLES,
                        help="limit the daemon and its peers, onnxruntime excepted, to an instruction set; results have names of their own")
    args = parser.parse_args(argv)
    if unknown := [name for name in args.scenarios if name not in (*SCENARIOS, "report")]:
        parser.error(f"unknown scenario: {', '.join(unknown)}")
    if args.minutes is None:
        args.minutes = 30 if args.full else 3
    return args


def command_line(name, argv):
    """The command that gives this one section again."""
    skip = {*SCENARIOS, "--resume", "--publish", "report"}
    return shlex.join(["scripts/load.sh", name, *(a for a in argv if a not in skip)])


def run_scenario(name, args, argv):
    scenario = SCENARIOS[name]
    name += instruction_sets.suffix(args.cpu_isa)
    with Context(name, scenario, args) as context:
        result = scenario.run(context)
        plot_files = context.plots
    result.command = command_line(name.removesuffix(instruction_sets.suffix(args.cpu_isa)), argv)
    result.machine = machine.describe()
    if args.cpu_isa:
        result.title += f" ({args.cpu_isa})"
        result.machine += f"; limited to {args.cpu_isa}"
    result.date = datetime.date.today().isoformat()
    result.others = max(context.noise, default=0.0)
    result.others_median = statistics.median(context.noise) if context.noise else 0.0
    result.full = args.full
    report.save(result, args.out / f"{name}.json")
    print(report.markdown(result, os.path.relpath(args.out, ROOT)), flush=True)
    if args.full or args.publish:
        publish(name, result, plot_files)
    return all(bar.met is not False for bar in result.bars)


def publish(name, result, plot_files):
    folder = ROOT / PLOT_FOLDER
    folder.mkdir(exist_ok=True)
    for path in plot_files:
        (folder / f"load-{path.name}").write_bytes(path.read_bytes())
    result.plots = [(f"load-{file}", text) for file, text in result.plots]
    report.publish(result, name, BENCHMARKS, "..")


def publish_saved(args, names):
    """Writes the sections again from the results that are there."""
    for name in names:
        name += instruction_sets.suffix(args.cpu_isa)
        path = args.out / f"{name}.json"
        if path.exists():
            result = report.load(path)
            publish(name, result, [args.out / file for file, _ in result.plots])


def main(argv):
    args = parse_arguments(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    names = [n for n in args.scenarios if n != "report"]
    if "report" in args.scenarios:
        publish_saved(args, names or SCENARIOS)
        return 0
    if not names:
        names = [n for n in SCENARIOS if args.full or n not in LONG]
    if args.cpu_isa:
        instruction_sets.limit_peers(args.cpu_isa)
    missed, failed = [], []
    for name in names:
        print(f"\n=== {name}", flush=True)
        try:
            if not run_scenario(name, args, argv):
                missed.append(name)
        except (ServerFailed, LoadFailed) as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            failed.append(name)
    if missed:
        print(f"\ngoals not met: {', '.join(missed)}", flush=True)
    if failed:
        print(f"\nfailed: {', '.join(failed)}; logs are in {os.path.relpath(args.out)}", file=sys.stderr, flush=True)
    return 1 if failed else 0


def on_terminate(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, on_terminate)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\ninterrupted: run the same command with --resume to go on from here", file=sys.stderr)
        sys.exit(130)
