#!/usr/bin/env bash
# Installs the man pages and the shell completions below a prefix. Usage: install-reference.sh PREFIX
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

prefix="${1:?install-reference.sh: a prefix is needed, for example /usr/local}"
[ -x build/millrace_reference ] || die "build/millrace_reference is missing: run scripts/build.sh millrace_reference"
pages="$(mktemp -d)"
trap 'rm -rf "$pages"' EXIT
build/millrace_reference "$pages" "$(LC_ALL=C date -u -d "@$(source_date)" +%Y-%m-%d)"

for page in "$pages"/*.[15]; do
  gzip -9n "$page"
  install -D -m 644 "$page.gz" "$prefix/share/man/man${page##*.}/$(basename "$page").gz"
done
install -D -m 644 "$pages/millrace.bash" "$prefix/share/bash-completion/completions/millrace"
install -D -m 644 "$pages/_millrace" "$prefix/share/zsh/vendor-completions/_millrace"
install -D -m 644 "$pages/millrace.fish" "$prefix/share/fish/vendor_completions.d/millrace.fish"
