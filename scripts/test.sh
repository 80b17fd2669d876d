#!/usr/bin/env bash
# Builds everything and runs all tests: C++ (unit, conformance, with the demo models), then those that drive the real daemon.
# A suite that fails does not keep the next from running. Arguments go to ctest, for example -R Scheduler; then only ctest runs, and
# each case is a test of its own, so that it can be selected by name.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

scripts/deps.sh serve test
per_case=OFF
[ $# -eq 0 ] || per_case=ON
WITH_TESTS=ON TEST_PER_CASE="$per_case" scripts/build.sh all
scripts/models.sh

export MILLRACE_MODELS="$MODELS"
failed=()

say "C++ tests"
ctest --preset default --parallel "$(jobs)" "$@" || failed+=("C++ tests")

if [ $# -eq 0 ]; then
  # Most of the tests over the wire wait, so one process more than cores; each file keeps its order, and its daemon to itself.
  export PATH="$PATH:$ROOT/.tools/prometheus/usr/bin"
  say "pytest tests/integration"
  "$VENV/bin/python" -m pytest -q -n "$(($(jobs) + 1))" --dist loadfile --no-loadscope-reorder --durations 15 tests/integration || failed+=("tests/integration")
  say "pytest tests/chaos"
  "$VENV/bin/python" -m pytest -q tests/chaos || failed+=("tests/chaos")
  say "pytest tests/deploy"
  "$VENV/bin/python" -m pytest -q --durations 5 tests/deploy || failed+=("tests/deploy")
fi
[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
say "all tests passed"
