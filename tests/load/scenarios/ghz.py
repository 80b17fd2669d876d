"""The recipes of tests/load/ghz as they are, by ghz alone: what anyone can repeat against a server of their own."""

from harness import clients
from harness.context import interleaved, median, spread
from harness.processes import start_millrace
from harness.report import Result

SHORT = {"repeats": 2, "seconds": 4}
FULL = {"repeats": 5, "seconds": 10}
RECIPES = {"null": "null", "translate": "bergamot-en-pt", "synthesize": "piper-en-us-joe"}


def run(context):
    server = start_millrace(context, "millrace-ghz")

    def trial(recipe):
        return clients.ghz(context, server, recipe, seconds=context.seconds)

    for recipe in RECIPES:
        clients.ghz(context, server, recipe, seconds=2)  # warm
    trials = interleaved(context, list(RECIPES), trial)
    return Result(
        title="The ghz recipes",
        about="Each file of `tests/load/ghz` as it is, against the daemon with its defaults. ghz goes round the texts of a recipe.",
        columns=["recipe", "model", "concurrent", "requests/s", "lowest-highest", "p50 ms", "p99 ms", "server CPU ms/request"],
        rows=[[f"`{recipe}.json`", model, clients.recipe(recipe)["concurrency"], f"{median(trials[recipe], 'rps'):,.1f}",
               spread(trials[recipe], "rps"), f"{median(trials[recipe], 'p50_ms'):.2f}", f"{median(trials[recipe], 'p99_ms'):.2f}",
               f"{median(trials[recipe], 'cpu_us') / 1e3:.3f}"] for recipe, model in RECIPES.items()],
        bars=[], plots=[], trials=trials)
