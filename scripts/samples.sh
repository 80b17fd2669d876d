#!/usr/bin/env bash
# Makes a page of listening samples in var/samples: audio, spectrograms and measurements of every voice. Usage: samples.sh [OUT]
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

scripts/deps.sh serve load
scripts/build.sh millrace
scripts/models.sh
say "listening samples"
"$VENV/bin/python" tests/load/samples.py "$@"
