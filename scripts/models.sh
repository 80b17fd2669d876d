#!/usr/bin/env bash
# Converts the demo models into var/models: only those that are missing or whose converter changed.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

# convert <kind> <package> [option...]: runs the converter of that kind unless the package is there and up to date.
convert() {
  local kind="$1" package="$2" stamp hash
  shift 2
  stamp="var/stamps/model-$package"
  # The kind's own modules are named after it; the others are shared by all.
  hash="$(hash_of models/convert/__main__.py models/convert/package.py models/convert/safetensors.py models/convert/scaled_tensors.py models/convert/voice_precision.py models/convert/english_lexicon.py models/convert/onnx_file.py \
    models/convert/seq2seq_yaml.py models/convert/piece_model.py models/convert/"$kind"*.py scripts/requirements/{libtorch,convert,models}.txt)"
  if [ -f "$MODELS/$package/1/model.pbtxt" ] && stamp_is "$stamp" "$hash"; then
    note "$package: up to date"
    return
  fi
  say "model $package"
  with_clock "converting $package" "$VENV/bin/python" -m models.convert "$kind" --models "$MODELS" --force "$@" ||
    die "$package could not be converted; the converter's message is above"
  write_stamp "$stamp" "$hash"
}

check=()
# The check compares with the wheel's own engine, which exists for x86_64 Linux and for macOS.
if [ "$(uname -sm)" = "Linux aarch64" ]; then check=(--check none); fi

convert null null
convert bergamot bergamot-en-pt --direction en-pt ${check[@]+"${check[@]}"}
convert bergamot bergamot-pt-en --direction pt-en ${check[@]+"${check[@]}"}
convert vits piper-en-us-joe
convert kokoro kokoro-82m
