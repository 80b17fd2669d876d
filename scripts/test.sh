#!/usr/bin/env bash
# Builds everything and runs all tests: C++ (unit, conformance, with the demo models), then those that drive the real daemon.
# Arguments go to ctest, for example -R Scheduler.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

scripts/deps.sh serve test
WITH_TESTS=ON scripts/build.sh all
scripts/models.sh

say "C++ tests"
MILLRACE_MODELS="$MODELS" ctest --preset default --parallel "$(jobs)" "$@"

if [ $# -eq 0 ]; then
  for suite in tests/integration tests/deploy; do
    say "pytest $suite"
    PATH="$PATH:$ROOT/.tools/prometheus/usr/bin" MILLRACE_MODELS="$MODELS" "$VENV/bin/python" -m pytest -q "$suite"
  done
fi
say "all tests passed"
