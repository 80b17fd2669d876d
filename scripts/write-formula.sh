#!/usr/bin/env bash
# Prints Homebrew's formula for an archive of the sources. Usage: write-formula.sh ARCHIVE URL    (URL: the folder where it will be)
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

archive="${1:?write-formula.sh: an archive is needed}"
url="${2:?write-formula.sh: a URL is needed}"
sed -e "s#@HOMEPAGE@#$url#" -e "s#@URL@#$url/$(basename "$archive")#" -e "s#@VERSION@#$(project_version)#" \
  -e "s#@SHA256@#$(sha256sum "$archive" | cut -d' ' -f1)#" deploy/homebrew/millrace.rb.in
