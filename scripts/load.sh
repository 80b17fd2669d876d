#!/usr/bin/env bash
# Builds the daemon and the load tools, then runs load tests. Without arguments: short versions of all but capacity, console,
# executors, both fleets, formats, opus-peers, pull, ray, soak, speech-cache, speech-int8 and both overloads, in a few minutes. Usage: load.sh [SCENARIO...] [--full] [--resume] [...]; load.sh --help lists the scenarios and options.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

# The load tools are part of the tests' CMake folder.
scripts/deps.sh serve test load
WITH_TESTS=ON scripts/build.sh millrace millrace_floor millrace_hotpart millrace_loadgen metrics_bench
scripts/models.sh
exec "$VENV/bin/python" tests/load/bench.py "$@"
