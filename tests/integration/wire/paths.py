"""Where the program under test and the demo models are."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = pathlib.Path(os.environ.get("MILLRACE_BINARY", ROOT / "build" / "millrace"))
# MILLRACE becomes this program for the commands that need libtorch.
SERVER_PROGRAM = BINARY.with_name("millrace-server")
# MILLRACE becomes this program to serve with executors.
FRONT_PROGRAM = BINARY.with_name("millrace-front")
# The front, beside its server program, as they fail at their failpoints (tests/fakes/failpoints).
WITH_FAILPOINTS = BINARY.parent / "tests" / "fakes" / "failpoints" / FRONT_PROGRAM.name
# The same server program with the MPS backend, on the stand-in for Apple's GPU (tests/fakes/mps).
ON_MPS_STANDIN = BINARY.parent / "tests" / "fakes" / "mps" / "millrace_on_standin"
SELFTEST_ON_MPS_STANDIN = ON_MPS_STANDIN.with_name("millrace_selftest_on_standin")
MODELS = pathlib.Path(os.environ.get("MILLRACE_MODELS", ROOT / "var" / "models"))

# The Python of NVIDIA Riva's client, whose packages are apart from those of the tests.
RIVA_PYTHON = ROOT / ".tools" / "riva-venv" / "bin" / "python"
# The environment of Triton's perf_analyzer, which has the libraries that the program needs.
PERF_ANALYZER = ROOT / ".tools" / "perf-analyzer-venv"

# The daemon refuses variables of this prefix that it does not know, so those of the tests stay here.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith("MILLRACE_") or name == "MILLRACE_CPU_ISA"}

NULL = "null"
EN_PT = "bergamot-en-pt"
PT_EN = "bergamot-pt-en"
VOICE = "piper-en-us-joe"
KOKORO = "kokoro-82m"
