"""What a scenario works with: settings, folders, running servers and the journal of trials."""

import statistics
import time

from harness import instruction_sets, machine
from harness.journal import Journal


class Context:
    """Made for one scenario and closed after it, which stops every server it still holds."""

    def __init__(self, name, scenario, args):
        self.name, self.args = name, args
        self.build, self.models, self.out = args.build, args.models, args.out
        self.cpu_isa = args.cpu_isa
        self.server_flags = [*args.server_flag, *(["--cpu-isa", args.cpu_isa] if args.cpu_isa else [])]
        self._server_cpus = args.server_cpus
        defaults = scenario.FULL if args.full else scenario.SHORT
        self.repeats = args.repeats or defaults["repeats"]
        self.seconds = args.seconds or defaults["seconds"]
        self.noise = []  # share of the CPU used by others, per trial
        self.plots = []
        self._servers = []
        binary = (args.build / "millrace").stat() if (args.build / "millrace").exists() else None
        settings = {"repeats": self.repeats, "seconds": self.seconds, "minutes": args.minutes, "flags": self.server_flags,
                    "server_cpus": args.server_cpus and sorted(args.server_cpus), "models": str(args.models), "binary": binary and [binary.st_size, binary.st_mtime]}
        self._journal = Journal(self.out / f"{name}.journal", settings, args.resume)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in reversed(self._servers):
            server.stop()

    def server_command(self, command):
        """The command of a server, on the CPUs that servers have."""
        return machine.on_cpus(command, self._server_cpus)

    def generator_command(self, command):
        others = machine.all_cpus() - self._server_cpus if self._server_cpus else None
        return machine.on_cpus(command, others)

    def hold(self, server):
        self._servers.append(server)
        return server

    def stop(self, server):
        self._servers.remove(server)
        return server.stop()

    def plot(self, file_name):
        """Where to save a plot."""
        stem, dot, ending = file_name.rpartition(".")
        self.plots.append(self.out / f"{stem}{instruction_sets.suffix(self.cpu_isa)}{dot}{ending}")
        return self.plots[-1]

    def say(self, text):
        print(f"  {text}", flush=True)

    def trial(self, key, run):
        """The result of run(), or the one that an interrupted measurement left. Prints a line of progress."""
        entry = self._journal.get(key)
        if entry is None:
            with machine.OthersMeter(self._servers) as meter:
                result = run()
            entry = {"result": result, "others": meter.share}
            self._journal.put(key, entry)
        self.noise.append(entry["others"])
        self.say(f"{key}: others used {entry['others']:.0%} of the CPU")
        return entry["result"]

    def settle(self):
        """A moment between trials, so that one does not pay for what the last left behind."""
        time.sleep(0.5)


def interleaved(context, cases, run):
    """{case: [result per repeat]}. Each repeat runs every case once, in turn forwards and backwards, so that a slow drift of the
    machine falls on all cases alike."""
    results = {case: [] for case in cases}
    for repeat in range(context.repeats):
        for case in (cases if repeat % 2 == 0 else list(reversed(cases))):
            context.settle()
            results[case].append(context.trial(f"{case} #{repeat + 1}", lambda c=case: run(c)))
    return results


def median(results, field):
    return statistics.median(r[field] for r in results)


def spread(results, field):
    """"lowest-highest" of a field over the repeats, to show next to a median."""
    values = sorted(r[field] for r in results)
    return "-".join(f"{v:,.0f}" if v >= 1000 else f"{v:.3g}" for v in (values[0], values[-1]))
