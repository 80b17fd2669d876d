#!/usr/bin/env bash
# Runs deploy/ray on a local Ray with two replicas. Ray takes 0.4 GB of packages, so that `make test` plays its part instead.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

scripts/deps.sh serve test
scripts/build.sh millrace
scripts/models.sh
environment="$ROOT/.tools/ray-venv"
stamp="$environment/stamp"
hash="$(hash_of scripts/requirements/ray.txt)"
if ! stamp_is "$stamp" "$hash"; then
  say "Python packages: Ray"
  rm -rf "$environment"
  "$VENV/bin/python" -m venv "$environment"
  "$environment/bin/python" -m pip install --disable-pip-version-check -q -r scripts/requirements/ray.txt || die "pip could not install Ray"
  write_stamp "$stamp" "$hash"
fi
export MILLRACE_MODELS="$MODELS"
# One after the other, since each has the daemon's protocols from another place.
for part in ray_pieces ray_forwarding ray; do
  "$environment/bin/python" -m pytest -q -p no:warnings "tests/deploy/test_$part.py" "$@"
done
