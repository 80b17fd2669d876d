"""Reads a page of Prometheus metrics."""

import re
import urllib.request

_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)",?')


class Metrics:
    """One scrape."""

    def __init__(self, page: str) -> None:
        self.samples: list[tuple[str, dict[str, str], float]] = []
        for line in page.splitlines():
            if line and not line.startswith("#"):
                match = _SAMPLE.match(line)
                assert match, f"not a sample: {line!r}"
                self.samples.append((match[1], dict(_LABEL.findall(match[2] or "")), float(match[3])))

    def total(self, name: str, **labels: str) -> float:
        """The sum of the samples of that name with at least these labels; 0 when there is none."""
        return sum(value for _, value in self.matching(name, **labels))

    def matching(self, name: str, **labels: str) -> list[tuple[dict[str, str], float]]:
        return [(found, value) for sample, found, value in self.samples
                if sample == name and labels.items() <= found.items()]

    def names(self) -> set[str]:
        return {name for name, _, _ in self.samples}


def scrape(port: int) -> Metrics:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return Metrics(answer.read().decode())
