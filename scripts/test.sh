#!/usr/bin/env bash
# Builds everything and runs all tests: C++ (unit, conformance, with the demo models), then those that drive the real daemon.
# A suite that fails does not keep the next from running. Arguments go to ctest, for example -R Scheduler; then only ctest runs.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

scripts/deps.sh serve test
WITH_TESTS=ON scripts/build.sh all
scripts/models.sh

export MILLRACE_MODELS="$MODELS"
failed=()

say "C++ tests"
ctest --preset default --parallel "$(jobs)" "$@" || failed+=("C++ tests")

if [ $# -eq 0 ]; then
  for suite in tests/integration tests/deploy; do
    say "pytest $suite"
    PATH="$PATH:$ROOT/.tools/prometheus/usr/bin" "$VENV/bin/python" -m pytest -q "$suite" || failed+=("$suite")
  done
fi
[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
say "all tests passed"
