#!/usr/bin/env bash
# Installs programs that Millrace is compared with, each in a Python environment of its own: var/peers/NAME. Run again at will.
# Usage: peers.sh NAME...      (NAME: kokoro, opus, 2.8 GB each on Linux; piper, ctranslate2, 0.1 GB each)
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || die "peers.sh: name what to install: kokoro, opus, piper, ctranslate2"
[ -x "$VENV/bin/python" ] || die "the Python environment .venv is missing" "run: make load, which makes it"

packages_of() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

for name in "$@"; do
  requirements="tests/load/peers/requirements-$name.txt"
  folder="var/peers/$name"
  [ -f "$requirements" ] || die "peers.sh: '$name' is not one of kokoro, opus, piper, ctranslate2"
  hash="$(hash_of "$requirements" scripts/peers.sh)"
  stamp_is "$folder/stamp" "$hash" && continue
  say "peer $name: $folder"
  rm -rf "$folder"
  "$VENV/bin/python" -m venv "$folder" || die "$VENV/bin/python could not make $folder"
  "$folder/bin/python" -m pip install --disable-pip-version-check -q --no-deps -r "$requirements" ||
    die "pip could not install the packages of $requirements" \
      "its own message is above; if the registry is out of reach, run the same command again when it is back," \
      "or point pip at a mirror (PIP_INDEX_URL) or at a folder of wheels (PIP_NO_INDEX=1 PIP_FIND_LINKS=folder)"
  # Last, so that pip does not see the packages of .venv, which it must leave alone.
  packages_of "$VENV/bin/python" >"$(packages_of "$folder/bin/python")/millrace.pth"
  write_stamp "$folder/stamp" "$hash"
done
