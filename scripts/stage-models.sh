#!/usr/bin/env bash
# Copies the Python package millrace_models, which fetches and converts models, from models/convert to a folder, with the pronunciations of
# English and the words of Japanese that Kokoro needs. Usage: stage-models.sh FOLDER
# With a second argument it also makes the program of one file from it: stage-models.sh FOLDER PROGRAM
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

folder="${1:?stage-models.sh: a folder is needed}"
program="${2:-}"
package="$folder/millrace_models"
mkdir -p "$package/lexicons"
install -m 644 models/convert/*.py "$package/"
for dialect in en-us en-gb; do
  "$VENV/bin/python" -m models.convert english-lexicon --dialect "$dialect" --output "$package/lexicons/$dialect.lexicon" >/dev/null ||
    die "the pronunciations of English are missing: run scripts/deps.sh serve"
done
"$VENV/bin/python" -c 'import pathlib, sys
from models.convert.japanese_words import write_words
write_words(pathlib.Path(sys.argv[1]))' "$package/lexicons/japanese.words" || die "the words of Japanese are missing: run scripts/deps.sh serve"
[ -n "$program" ] || exit 0

# All files of an archive have one date, so that the same sources give the same bytes.
find "$folder" -exec touch -h -d "@$(source_date)" {} +
"$VENV/bin/python" -m zipapp "$folder" --output "$program" --python /usr/bin/python3 --main millrace_models.__main__:console --compress
chmod 755 "$program"
