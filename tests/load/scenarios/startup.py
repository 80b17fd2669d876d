"""From process start to ready, with the demo models and a warm page cache."""

from harness import machine
from harness.context import median, spread
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": None}
FULL = {"repeats": 5, "seconds": None}


def run(context):
    def trial():
        server = start_millrace(context, "millrace-startup")
        try:
            return {"ready_s": server.ready_after_s, "cpu_s": machine.cpu_seconds(server.pid)}
        finally:
            context.stop(server)

    trial()  # warms the page cache
    trials = [context.trial(f"start #{i + 1}", trial) for i in range(context.repeats)]
    ready = median(trials, "ready_s")
    return Result(
        title="Start",
        about="From starting the process to the first 200 of `/v2/health/ready`, which the daemon gives when all demo models (Kokoro, "
              "Piper, two of Bergamot, null) are loaded and warm; the files are in the page cache.",
        columns=["runs", "median s", "lowest-highest s", "CPU s"],
        rows=[[len(trials), f"{ready:.2f}", spread(trials, "ready_s"), f"{median(trials, 'cpu_s'):.2f}"]],
        bars=[Bar("from start to serving", f"{ready:.2f} s", "<= 2 s", ready <= 2)],
        trials={"start": trials})
