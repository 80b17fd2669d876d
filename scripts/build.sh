#!/usr/bin/env bash
# Configures build/ and builds the daemon there, or the targets given. Usage: build.sh [TARGET...]
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

cache="build/CMakeCache.txt"
options=()
if [ -f "$cache" ]; then
  # A moved checkout or a new Python leaves paths in the cache that no longer exist.
  cached_torch="$(sed -n 's/^TORCH_INCLUDE_DIR:[^=]*=//p' "$cache")"
  cached_home="$(sed -n 's/^CMAKE_HOME_DIRECTORY:[^=]*=//p' "$cache")"
  if [ "$cached_home" != "$ROOT" ] || [ ! -d "$cached_torch" ]; then options+=(--fresh); fi
fi
if [ "${WITH_TESTS:-}" = ON ]; then
  options+=(-DMILLRACE_TESTS=ON -DMILLRACE_BENCHMARKS=ON "-DMILLRACE_TEST_PER_CASE=${TEST_PER_CASE:-OFF}")
elif [ ! -f "$cache" ] || [ ${#options[@]} -gt 0 ]; then
  # To serve, neither GoogleTest nor Google Benchmark has to be installed. A folder made by `make test` keeps its tests.
  options+=(-DMILLRACE_TESTS=OFF -DMILLRACE_BENCHMARKS=OFF)
fi

if is_macos && command -v brew >/dev/null; then
  # Homebrew does not link its OpenSSL into the common prefix.
  OPENSSL_ROOT_DIR="$(brew --prefix openssl@3)"
  export OPENSSL_ROOT_DIR PKG_CONFIG_PATH="$OPENSSL_ROOT_DIR/lib/pkgconfig:${PKG_CONFIG_PATH:-}"
fi

[ $# -gt 0 ] || set -- millrace
say "build: $* with $(jobs) jobs"
# Steps done, steps in all, and the seconds since the beginning.
export NINJA_STATUS="${NINJA_STATUS:-[%f/%t, %e s] }"
log="build/configure.log"
mkdir -p build
if ! cmake --preset default ${options[@]+"${options[@]}"} >"$log" 2>&1; then
  cat "$log" >&2
  die "cmake could not configure build/; its message is above"
fi
cmake --build build --parallel "$(jobs)" --target "$@" || die "the build failed; the compiler's message is above"
