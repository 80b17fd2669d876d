#!/usr/bin/env bash
# clang-tidy on the files given, or on the sources that changed since the branch left origin/main (on main itself: in the last commit)
# and those that include a header that changed.
# Needs build/. Usage: tidy.sh [FILE...]
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

tidy="$(tool clang-tidy-14 clang-tidy)" || die "clang-tidy is missing: run make deps"
[ -f build/CMakeCache.txt ] || die "build/ is missing: run make build"

# Each file by itself, as a unity build has no command for it, and without the precompiled headers of GCC, which clang cannot read.
# Generated headers are those of build/.
cmake --preset default -B build/tidy -DMILLRACE_UNITY_BUILD=OFF -DMILLRACE_PRECOMPILE_HEADERS=OFF >build/tidy.log 2>&1 ||
  { cat build/tidy.log >&2; die "cmake could not configure build/tidy; its message is above"; }
commands="build/tidy/compile_commands.json"
sed -i -e "s|$ROOT/build/tidy/|$ROOT/build/|g" "$commands"

if [ $# -eq 0 ]; then
  # A clone may have no origin/main, and a first or shallow commit no parent: the next line or the message below covers each.
  base="$(git merge-base HEAD origin/main 2>/dev/null || true)"
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base="$(git rev-parse --verify --quiet HEAD~1 || true)"
  fi
  [ -n "$base" ] || { note "no earlier commit to compare with"; exit 0; }
  while IFS= read -r file; do
    # Only what this build compiles: not the backend of another system.
    if grep -q "\"file\": \"$ROOT/$file\"" "$commands"; then
      set -- "$@" "$file"
    fi
  done < <(
    git diff --name-only --diff-filter=d "$base" -- mps_runtime models server tests | grep -E '\.(cc|h)$' | while IFS= read -r file; do
      case "$file" in
        # A header that no source includes by this name is no error.
        *.h) git grep -l -F "#include \"$file\"" -- '*.cc' || true ;;
        *) printf '%s\n' "$file" ;;
      esac
    done | sort -u)
  [ $# -gt 0 ] || { note "no source has changed since $base"; exit 0; }
fi

say "clang-tidy"
printf '%s\n' "$@" | sort -u | xargs -P "$(jobs)" -n 1 "$tidy" -p build/tidy --quiet --warnings-as-errors='*'
