#!/usr/bin/env bash
# Runs the load tests. Arguments go to tests/load/run.py.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

scripts/build.sh
scripts/models.sh
PATH="$ROOT/.tools/bin:$PATH" exec "$VENV/bin/python" -m tests.load.run "$@"
