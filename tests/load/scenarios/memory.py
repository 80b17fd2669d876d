"""Resident size of 8 workers against 1: the weights must be shared."""

from harness import clients, machine, plots
from harness.context import interleaved, median, spread
from harness.processes import start_millrace
from harness.report import Bar, Result
from scenarios.mixed import run_mixed

SHORT = {"repeats": 1, "seconds": 3}
FULL = {"repeats": 5, "seconds": 10}
WORKERS = (1, 8)
CONCURRENCY = 8  # of each kind, so that there is work for every worker


def run(context):
    def trial(case):
        workers = case.removesuffix(" workers")
        server = start_millrace(context, f"millrace-memory-{workers}", "--workers", workers)
        try:
            idle = machine.memory_mib(server.pid)
            for result in run_mixed(context, server, seconds=context.seconds, concurrency=CONCURRENCY).values():
                clients.require_all_ok(result)
            context.settle()
            # Workers are recognised by what they do: with work for all, those are the threads with the most CPU time.
            busiest = sorted((cpu for _, cpu in machine.thread_cpu_seconds(server.pid)), reverse=True)
            return {"idle_" + k: v for k, v in idle.items()} | machine.memory_mib(server.pid) | {
                "least_worker_cpu": busiest[int(workers) - 1]}
        finally:
            context.stop(server)

    trials = interleaved(context, [f"{w} workers" for w in WORKERS], trial)
    one, eight = trials["1 workers"], trials["8 workers"]
    rss = median(eight, "rss") / median(one, "rss")
    pss = median(eight, "pss") / median(one, "pss")
    plot = context.plot("memory.png")
    plots.bars(plot, "Memory with the demo models, after work on all workers", "MiB", [f"{w} workers" for w in WORKERS],
               {kind: [median(trials[f"{w} workers"], kind) for w in WORKERS] for kind in ("rss", "pss", "private")})
    return Result(
        title="Memory: 8 workers against 1",
        about=f"A fresh daemon with the four demo models in each trial; {CONCURRENCY} calls of each kind (null, both translations, "
              f"speech, streamed speech) in flight for {context.seconds} s, then the kernel's figures for the process.",
        columns=["workers", "resident MiB", "lowest-highest", "proportional MiB", "private MiB", "resident before work MiB", "CPU s of the least busy worker"],
        rows=[[w, f"{median(r, 'rss'):.0f}", spread(r, "rss"), f"{median(r, 'pss'):.0f}", f"{median(r, 'private'):.0f}",
               f"{median(r, 'idle_rss'):.0f}", f"{median(r, 'least_worker_cpu'):.2f}"] for w, r in ((1, one), (8, eight))],
        bars=[Bar("resident size of 8 workers, of 1 worker", f"{rss:.3f}x", "<= 1.15x", rss <= 1.15),
              Bar("proportional size of 8 workers, of 1 worker", f"{pss:.3f}x", "<= 1.15x", pss <= 1.15)],
        plots=[(plot.name, "Memory by number of workers")],
        trials=trials)
