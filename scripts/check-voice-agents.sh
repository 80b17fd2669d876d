#!/usr/bin/env bash
# Lets the speech services of Pipecat and LiveKit, unmodified, speak with the daemon. They take 1.2 GB of packages, so that `make test`
# replays their requests instead.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

scripts/deps.sh serve test
scripts/build.sh millrace
scripts/models.sh
for name in pipecat livekit; do
  environment="$ROOT/.tools/$name-venv"
  stamp="$environment/stamp"
  hash="$(hash_of "scripts/requirements/$name.txt")"
  stamp_is "$stamp" "$hash" && continue
  say "Python packages: $name"
  rm -rf "$environment"
  "$VENV/bin/python" -m venv "$environment"
  "$environment/bin/python" -m pip install --disable-pip-version-check -q -r "scripts/requirements/$name.txt" || die "pip could not install $name"
  write_stamp "$stamp" "$hash"
done
MILLRACE_MODELS="$MODELS" exec "$VENV/bin/python" -m pytest -q tests/voice_agents "$@"
