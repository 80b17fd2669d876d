# shellcheck shell=bash
# What all scripts share: source it first. It moves to the project's root. Runs with the bash 3.2 of macOS.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT"

# shellcheck disable=SC2034  # used by the scripts that source this
VENV="$ROOT/.venv"
# shellcheck disable=SC2034
MODELS="$ROOT/var/models"

# Compilations are shared between build folders and checkouts: paths below the root count as relative.
export CCACHE_BASEDIR="$ROOT" CCACHE_NOHASHDIR=true

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
die() {
  printf '\nerror: %s\n' "$1" >&2
  shift
  if [ $# -gt 0 ]; then printf '       %s\n' "$@" >&2; fi
  exit 1
}
trap 'printf "\ninterrupted: run the same command again to go on from here\n" >&2; exit 130' INT TERM

if ! [ -t 1 ]; then
  say() { printf '==> %s\n' "$*"; }
fi

# with_clock <what> <command>...: runs the command and says every five seconds that it goes on, for those that are silent for long.
with_clock() {
  local what="$1" clock status=0
  shift
  (
    started=$SECONDS
    # In the background an interrupt is ignored, so it looks whether the script is still there.
    while sleep 5 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do note "$what: $((SECONDS - started)) s"; done
  ) &
  clock=$!
  "$@" || status=$?
  kill "$clock" 2>/dev/null || true
  wait "$clock" 2>/dev/null || true
  return "$status"
}

is_macos() { [ "$(uname -s)" = Darwin ]; }

# One hash over the contents of all files given.
hash_of() {
  if command -v sha256sum >/dev/null; then
    cat "$@" | sha256sum | cut -c1-16
  else
    cat "$@" | shasum -a 256 | cut -c1-16
  fi
}

# A stamp says that a step was finished for this content. It is written last, so an interrupted step leaves none.
stamp_is() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }
write_stamp() {
  mkdir -p "$(dirname "$1")"
  printf '%s\n' "$2" >"$1.new"
  mv "$1.new" "$1"
}

# Parallel compilations: a file that includes libtorch takes about 1.5 GB, so memory may set the limit.
jobs() {
  if [ -n "${JOBS:-}" ]; then
    echo "$JOBS"
    return
  fi
  local cores memory_gb
  if is_macos; then
    cores="$(sysctl -n hw.ncpu)"
    memory_gb="$(($(sysctl -n hw.memsize) >> 30))"
  else
    cores="$(nproc)"
    memory_gb="$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)"
  fi
  local by_memory=$((memory_gb / 2))
  [ "$by_memory" -ge 1 ] || by_memory=1
  if [ "$by_memory" -lt "$cores" ]; then echo "$by_memory"; else echo "$cores"; fi
}

# True when something listens on 127.0.0.1:$1.
port_in_use() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# The status code of a GET on 127.0.0.1:$1, path $2; empty when nobody answers. Without curl, which a bare system lacks.
http_status() {
  (
    exec 3<>"/dev/tcp/127.0.0.1/$1"
    printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&3
    read -r _ status _ <&3
    printf '%s' "$status"
  ) 2>/dev/null || true
}

# The first of clang-format, clang-format-14, ...: Debian names its own with the version.
tool() {
  local name
  for name in "$@"; do
    if command -v "$name" >/dev/null; then
      command -v "$name"
      return
    fi
  done
  return 1
}

# prometheus or promtool: the system's, or the one that deps.sh unpacked.
prometheus_tool() {
  if command -v "$1" >/dev/null; then
    command -v "$1"
  elif [ -x "$ROOT/.tools/prometheus/usr/bin/$1" ]; then
    echo "$ROOT/.tools/prometheus/usr/bin/$1"
  else
    return 1
  fi
}

# Our own C++ sources, one per line.
cpp_sources() { find mps_runtime models server tests -name '*.h' -o -name '*.cc' | LC_ALL=C sort; }

# The version that CMakeLists.txt states.
project_version() { sed -n 's/^project(millrace VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# When the checkout was last changed, in seconds, so that packages of one commit are alike; without git, now.
source_date() {
  if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
    echo "$SOURCE_DATE_EPOCH"
  else
    git log -1 --format=%ct 2>/dev/null || date +%s
  fi
}
