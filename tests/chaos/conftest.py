"""Faults are injected from outside into the shipped programs, which are those of tests/integration."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / "integration"), str(pathlib.Path(__file__).parent)]
