#!/usr/bin/env bash
# Copies the daemon and the libtorch it was built with to a prefix, so that it runs without this checkout. Usage: install.sh PREFIX
# STRIP_PROGRAMS=1 leaves out symbols and line numbers, for packages.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

is_macos && die "make install is for Linux; on macOS the daemon runs from the checkout: link build/millrace where you want it"
prefix="${1:?install.sh: a prefix is needed, for example /opt/millrace}"
command -v patchelf >/dev/null || die "patchelf is missing: apt-get install patchelf"
for program in millrace millrace-front millrace-server; do
  [ -x "build/$program" ] || die "build/$program is missing: run make build"
done
if ! mkdir -p "$prefix/bin" "$prefix/lib" 2>/dev/null || ! [ -w "$prefix" ]; then
  die "cannot write to $prefix: run as root, or choose another PREFIX"
fi

# strip damages what patchelf has changed, so programs are stripped first.
strip_symbols() {
  if [ -n "${STRIP_PROGRAMS:-}" ]; then strip --strip-unneeded --remove-section=.comment "$@"; fi
}

# Everything the daemon loads from the Python environment, in the same relative places: libtorch finds its CUDA runtime
# by paths relative to itself.
site="$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
ldd build/millrace-server | awk -v site="$site/" 'index($3, site) == 1 { print substr($3, length(site) + 1) }' | while read -r library; do
  install -D -m 644 "$site/$library" "$prefix/lib/$library"
  strip_symbols "$prefix/lib/$library"
done
# `millrace version` reads it.
install -m 644 "$site/torch/version.py" "$prefix/lib/torch/"
# Loaded at run time from beside the daemon.
install -m 755 build/libmillrace_sentencepiece.so "$prefix/bin/"
strip_symbols "$prefix/bin/libmillrace_sentencepiece.so"
for program in millrace-server millrace-front millrace; do
  install -m 755 "build/$program" "$prefix/bin/$program.new"
  strip_symbols "$prefix/bin/$program.new"
  # The place of this checkout is replaced; $ORIGIN is for the loader.
  # shellcheck disable=SC2016
  patchelf --set-rpath '$ORIGIN/../lib/torch/lib' "$prefix/bin/$program.new"
  mv "$prefix/bin/$program.new" "$prefix/bin/$program"
done
# `millrace pull` runs it.
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT
scripts/stage-models.sh "$stage/models" "$prefix/bin/millrace-models"
say "installed: $prefix/bin/millrace ($(du -sh "$prefix/lib" | cut -f1) of libtorch beside it)"
