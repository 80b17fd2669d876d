#!/usr/bin/env bash
# Prints what this checkout takes: disk of the environment, the build and the models, and memory of a daemon that has loaded them all.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[ -r /proc/self/status ] || die "memory is read from /proc, which this system does not have"
[ -x build/millrace ] || die "build/millrace is missing: run make build"
[ -d "$MODELS" ] || die "the demo models are missing: run make models"

for folder in .venv build "$MODELS" "$MODELS"/*; do
  printf '%8s  %s\n' "$(du -sLm "$folder" | cut -f1) MB" "${folder#"$ROOT"/}"
done
packed="$(find -L "$MODELS" -name 'packed-*.weights' -exec du -cm {} + | tail -1 | cut -f1)"
printf '%8s  %s\n' "${packed:-0} MB" "of the models: packed weights, which the daemon wrote"

work="$(mktemp -d)"
build/millrace serve --models "$MODELS" --workers 2 --grpc-address 127.0.0.1:0 --http-address off --metrics-address off \
  --port-file "$work/ports" >"$work/log" 2>&1 &
daemon=$!
trap 'kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; rm -rf "$work"' EXIT
# The file with the ports is written once all models are loaded.
until [ -s "$work/ports" ]; do
  if ! kill -0 "$daemon" 2>/dev/null; then
    cat "$work/log" >&2
    die "the daemon ended; its messages are above"
  fi
  sleep 0.2
done
sleep 1
awk '/^VmHWM/ { most = $2 } /^VmRSS/ { now = $2 } /^RssAnon/ { own = $2 }
  END { printf "%4d MiB  memory with all models loaded, %d MiB of it not mapped from files\n%4d MiB  at most while they load\n", now / 1024, own / 1024, most / 1024 }' \
  "/proc/$daemon/status"
