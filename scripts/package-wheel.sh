#!/usr/bin/env bash
# Makes the wheel millrace-server from what is in build/, and the wheel millrace-models. Usage: package-wheel.sh [FOLDER]    (default: dist)
# auditwheel puts the distribution's libraries, such as gRPC, into it; libtorch comes from the package torch.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

is_macos && die "package-wheel.sh is for Linux"
output="$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)"
for program in millrace millrace-front millrace-server libmillrace_sentencepiece.so; do
  [ -e "build/$program" ] || die "build/$program is missing: run make build"
done
"$VENV/bin/python" -c 'import auditwheel' 2>/dev/null || die "auditwheel is missing: run scripts/deps.sh packages"

# Its patchelf comes first.
PATH="$VENV/bin:$PATH"
PACKAGE_VERSION="${PACKAGE_VERSION:-$(project_version)}"
TORCH_VERSION="$("$VENV/bin/python" -c 'import importlib.metadata as m; print(m.version("torch").partition("+")[0])')"
SOURCE_DATE_EPOCH="$(source_date)"
export PACKAGE_VERSION TORCH_VERSION SOURCE_DATE_EPOCH

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cp -r deploy/wheel "$work/source"
cp LICENSE THIRD_PARTY.md "$work/source/"
mkdir "$work/source/millrace_server/bin"
for program in millrace millrace-front millrace-server libmillrace_sentencepiece.so; do
  file="$work/source/millrace_server/bin/$program"
  install -m 755 "build/$program" "$file"
  strip --strip-unneeded "$file"
  # libtorch is two folders up, in the folder of the package torch; $ORIGIN is for the loader.
  # shellcheck disable=SC2016
  patchelf --set-rpath '$ORIGIN/../../torch/lib' "$file"
done

"$VENV/bin/python" -m pip wheel --disable-pip-version-check -q --no-deps --no-build-isolation -w "$work/plain" "$work/source" ||
  die "pip could not make the wheel; its message is above"
"$VENV/bin/python" -m auditwheel -v repair "$work"/plain/*.whl -w "$work/repaired" --only-plat \
  --plat "manylinux_$(ldd --version | sed -n '1s/.* \([0-9]*\)\.\([0-9]*\)$/\1_\2/p')_$(uname -m)" \
  --exclude libtorch_cpu.so --exclude libc10.so >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  die "auditwheel could not repair the wheel; its message is above"
}
cp -r deploy/wheel-models "$work/models"
cp LICENSE THIRD_PARTY.md "$work/models/"
scripts/stage-models.sh "$work/models"
"$VENV/bin/python" -m pip wheel --disable-pip-version-check -q --no-deps --no-build-isolation -w "$output" "$work/models" ||
  die "pip could not make the wheel of millrace-models; its message is above"
say "wheel: $output/millrace_models-$PACKAGE_VERSION-py3-none-any.whl"
wheel="$(cd "$work/repaired" && echo ./*.whl)"
mv "$work/repaired/$wheel" "$output/"
say "wheel: $output/${wheel#./} ($(du -h "$output/$wheel" | cut -f1), for torch $TORCH_VERSION)"
