#!/usr/bin/env bash
# Copies the licences of the libraries that packages carry. Usage: install-licences.sh FOLDER
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

folder="${1:?install-licences.sh: a folder is needed}"
site="$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
for name in torch nvidia_cuda_runtime nvidia_cuda_cupti; do
  for licences in "$site/$name"-*.dist-info/licenses; do
    mkdir -p "$folder/licences/$name"
    cp -r "$licences/." "$folder/licences/$name/"
  done
done
find "$folder/licences" -type f -exec chmod 644 {} +
