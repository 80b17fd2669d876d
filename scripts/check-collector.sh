#!/usr/bin/env bash
# Sends the daemon's spans to the OpenTelemetry Collector. That is compiled the first time, which takes minutes, so in `make test` a few
# lines play its part. Needs Go 1.26. Arguments go to pytest. With MILLRACE_BINARY, the path of a daemon, nothing else is built or installed.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

SOURCES=tests/collector
TOOLS="$ROOT/.tools/collector"

# The environment decides nothing here.
export GOFLAGS='-mod=readonly -buildvcs=false' GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0

compile_collector() {
  local version hash log="$TOOLS/collector.log"
  version="$(sed -n 's,^[[:space:]]*go.opentelemetry.io/collector/otelcol v,,p' "$SOURCES/go.mod")"
  hash="$(hash_of "$SOURCES"/{main.go,go.mod,go.sum})"
  stamp_is "$TOOLS/stamp" "$hash" && [ -x "$TOOLS/bin/collector" ] && return
  say "OpenTelemetry Collector $version"
  mkdir -p "$TOOLS"
  (cd "$SOURCES" && go build -v -p "$(jobs)" -trimpath -ldflags "-s -w" -o "$TOOLS/bin/collector" .) 2>&1 | tee "$log" |
    awk 'NR % 100 == 0 { print "    " NR " packages"; fflush() }' || die "go could not compile the collector" "$(tail -n 20 "$log")"
  write_stamp "$TOOLS/stamp" "$hash"
}

command -v go >/dev/null || die "Go 1.26 or newer is missing: it compiles the OpenTelemetry Collector"
if [ -z "${MILLRACE_BINARY:-}" ]; then
  scripts/deps.sh serve test
  scripts/build.sh millrace
  scripts/models.sh
fi
compile_collector

say "pytest $SOURCES (logs in var/collector)"
exec "$VENV/bin/python" -m pytest -q --basetemp "$ROOT/var/collector" "$SOURCES" "$@"
