"""How soon a single reader sees the first sentence of a text that is translated by way of English, against the time of all of it."""

import re
import shutil
import statistics

from harness.clients import LoadFailed
from harness.context import interleaved, median, spread
from harness.models import TRANSLATION, TRANSLATION_BACK, TRANSLATION_BACK_TEXTS
from harness.processes import start_millrace
from harness.report import Bar, Result
from harness.translation_stream import TranslationClient

SHORT = {"repeats": 3, "seconds": None}
FULL = {"repeats": 10, "seconds": None}
HTML, PLAIN = "HTML", "plain text"
FORMATS = {HTML: "TEXT_FORMAT_HTML", PLAIN: "TEXT_FORMAT_UNSPECIFIED"}
SENTENCES = 10
FEWEST_WORDS = 10
CALLS = 30   # of a trial
DEADLINE_S = 60
GOAL = 0.3
# There is no third language among the demo models: the way back to Portuguese stands for one.
TARGET = "gl"


def make_models(context):
    """A repository with a model into English and one out of it, into another language than the first reads."""
    root = context.out / "pivot-models"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    (root / TRANSLATION_BACK).symlink_to(context.models / TRANSLATION_BACK)
    folder = root / f"{TRANSLATION}-as-{TARGET}" / "1"
    folder.mkdir(parents=True)
    for file in (context.models / TRANSLATION / "1").iterdir():
        if file.name != "model.pbtxt":
            shutil.copyfile(file, folder / file.name)
    config = (context.models / TRANSLATION / "1" / "model.pbtxt").read_text()
    (folder / "model.pbtxt").write_text(re.sub(r'target_language: "pt[^"]*"', f'target_language: "{TARGET}"', config))
    return root


def make_texts():
    """The same sentences as a paragraph, and in one of HTML with two pairs of tags each."""
    lines = [line for line in TRANSLATION_BACK_TEXTS.read_text().splitlines() if len(line.split()) >= FEWEST_WORDS][:SENTENCES]
    marked = []
    for line in lines:
        words = line.split()
        words[1] = f"<b>{words[1]}</b>"
        words[4:7] = [f'<a href="/x">{" ".join(words[4:7])}</a>']
        marked.append(" ".join(words))
    return {HTML: f"<p>{' '.join(marked)}</p>", PLAIN: " ".join(lines)}


def count_tags(text):
    return {tag: text.count(tag) for tag in ("<p>", "</p>", "<b>", "</b>", '<a href="/x">', "</a>")}


def run(context):
    server = start_millrace(context, "millrace-pivot", "--models", str(make_models(context)))
    texts = make_texts()

    def trial(case):
        fields = {"texts": [texts[case]], "source_language": "pt", "target_language": TARGET, "format": FORMATS[case]}
        with TranslationClient(server) as client:
            streams = [client.stream(DEADLINE_S, **fields) for _ in range(CALLS)]
            wholes = [client.whole(DEADLINE_S, **fields) for _ in range(CALLS)]
        if len({call["text"] for call in (*streams, *wholes)}) != 1:
            raise LoadFailed(f"{case}: StreamTranslate and Translate gave different texts")
        if count_tags(streams[0]["text"]) != count_tags(texts[case]):
            raise LoadFailed(f"{case}: the translation has other tags than the text")
        return {"first_ms": statistics.median(call["first_ms"] for call in streams),
                "end_ms": statistics.median(call["end_ms"] for call in streams),
                "whole_ms": statistics.median(call["end_ms"] for call in wholes)}

    for case in FORMATS:
        trial(case)   # warm
    trials = interleaved(context, list(FORMATS), trial)
    shares = {case: median(results, "first_ms") / median(results, "end_ms") for case, results in trials.items()}
    return Result(
        title="Time to the first sentence of a text by way of English",
        about=f"{SENTENCES} Portuguese sentences of at least {FEWEST_WORDS} words as one paragraph, as HTML with two pairs of tags in each "
              f"sentence and as plain text, through {TRANSLATION_BACK} and {TRANSLATION}; one call at a time on an idle server, "
              f"{CALLS} of each kind in a trial: StreamTranslate to its first translated sentence and to its end, and Translate. The second "
              "model is served under the tag of another language, as a text that comes back to its own needs no translation. Medians of the "
              "calls of a trial, by a client in Python.",
        columns=["text", "first sentence ms", "lowest-highest", "end of the stream ms", "lowest-highest", "Translate ms", "first of the stream"],
        rows=[[case, f"{median(results, 'first_ms'):.2f}", spread(results, "first_ms"), f"{median(results, 'end_ms'):.2f}",
               spread(results, "end_ms"), f"{median(results, 'whole_ms'):.2f}", f"{shares[case]:.2f}"] for case, results in trials.items()],
        bars=[Bar(f"first sentence of a pivoted text of ten sentences, of the time of the whole stream: {case}", f"{share:.2f}", f"<= {GOAL}",
                  share <= GOAL) for case, share in shares.items()],
        plots=[],
        trials=trials)
