#!/usr/bin/env bash
# Formats all C++ sources in place; with --check only says which are not formatted (exit status 1).
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

# Versions of clang-format differ in detail, so the one of the pinned distribution comes first.
format="$(tool clang-format-14 clang-format)" || die "clang-format is missing: run make deps"
if [ "${1:-}" = --check ]; then
  cpp_sources | xargs "$format" --dry-run -Werror || die "not formatted: run make format"
else
  cpp_sources | xargs "$format" -i
fi
