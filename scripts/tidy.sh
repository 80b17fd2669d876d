#!/usr/bin/env bash
# clang-tidy on the files given, or on the sources that changed since the branch left origin/main (on main itself: in the last commit).
# Needs build/compile_commands.json. Usage: tidy.sh [FILE...]
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

tidy="$(tool clang-tidy-14 clang-tidy)" || die "clang-tidy is missing: run make deps"
[ -f build/compile_commands.json ] || die "build/compile_commands.json is missing: run make build"

if [ $# -eq 0 ]; then
  # A clone may have no origin/main, and a first or shallow commit no parent: the next line or the message below covers each.
  base="$(git merge-base HEAD origin/main 2>/dev/null || true)"
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base="$(git rev-parse --verify --quiet HEAD~1 || true)"
  fi
  [ -n "$base" ] || { note "no earlier commit to compare with"; exit 0; }
  # A changed header is seen by way of the source beside it.
  while IFS= read -r file; do
    source_file="${file%.h}"
    source_file="${source_file%.cc}.cc"
    # Only what this build compiles: not the backend of another system.
    if [ -f "$source_file" ] && grep -q "\"file\": \"$ROOT/$source_file\"" build/compile_commands.json; then
      set -- "$@" "$source_file"
    fi
  done < <(git diff --name-only --diff-filter=d "$base" -- 'mps_runtime/*.h' 'mps_runtime/*.cc' 'models/*.h' 'models/*.cc' 'server/*.h' \
    'server/*.cc' 'tests/*.h' 'tests/*.cc')
  [ $# -gt 0 ] || { note "no source has changed since $base"; exit 0; }
fi

# clang cannot read the precompiled headers of GCC.
mkdir -p build/tidy
sed -e 's| -Winvalid-pch -include [^ ]*/cmake_pch\.hxx||' -e 's| -fpch-preprocess||' \
  build/compile_commands.json >build/tidy/compile_commands.json
say "clang-tidy"
printf '%s\n' "$@" | sort -u | xargs -P "$(jobs)" -n 1 "$tidy" -p build/tidy --quiet --warnings-as-errors='*'
