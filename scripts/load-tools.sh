#!/usr/bin/env bash
# Installs what the load tests need beside the build: ghz in .tools/bin and the plotting packages in .venv. Run again at will.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

GHZ_VERSION=0.120.0
GO_NEEDED=1.18  # what ghz's own go.mod asks for

# Whether version $1 is at least $2, by their first two numbers.
at_least() {
  local have_major have_minor need_major need_minor
  IFS=. read -r have_major have_minor _ <<<"$1"
  IFS=. read -r need_major need_minor _ <<<"$2"
  [ "$have_major" -gt "$need_major" ] || { [ "$have_major" -eq "$need_major" ] && [ "${have_minor:-0}" -ge "$need_minor" ]; }
}

install_ghz() {
  stamp_is .tools/stamps/ghz "$GHZ_VERSION" && [ -x .tools/bin/ghz ] && return
  command -v go >/dev/null ||
    die "the load tests need ghz $GHZ_VERSION, and Go to build it: Go is missing" \
      "install Go $GO_NEEDED or newer (https://go.dev/dl, or your distribution's package), then run the same command again"
  local version
  version="$(go env GOVERSION | sed 's/^go//')"
  at_least "$version" "$GO_NEEDED" ||
    die "the load tests build ghz $GHZ_VERSION with Go $GO_NEEDED or newer; this is Go $version"
  say "ghz $GHZ_VERSION: built into .tools/bin"
  GOBIN="$ROOT/.tools/bin" go install "github.com/bojand/ghz/cmd/ghz@v$GHZ_VERSION" ||
    die "go could not build ghz" "its own message is above; if the Go module proxy is out of reach, run the same command again when it is back"
  write_stamp .tools/stamps/ghz "$GHZ_VERSION"
}

install_plotting() {
  local requirements=tests/load/requirements.txt hash
  hash="$(hash_of "$requirements")"
  stamp_is "$VENV/stamps/load" "$hash" && return
  [ -x "$VENV/bin/python" ] || die "the Python environment .venv is missing" "run: make load, which makes it"
  say "Python packages: plots"
  "$VENV/bin/python" -m pip install --disable-pip-version-check -q --no-deps -r "$requirements" ||
    die "pip could not install the packages of $requirements" "run the same command again when the registry is in reach"
  write_stamp "$VENV/stamps/load" "$hash"
}

install_ghz
install_plotting
