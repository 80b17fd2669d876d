#!/usr/bin/env bash
# Compiles mps_runtime with the real MPS backend, and the self-test, for macOS on Apple silicon, and links them against libtorch's own
# macOS libraries: a name that libtorch or the system does not have fails it. Compiles the kernels of models for arm64 too, which the
# gate does nowhere else. Nothing of it can run here. Needs no Mac; on a Mac, build.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

is_macos && die "this check is for machines that are no Macs: run make test"
CROSS="$ROOT/var/macos"
version="$(sed -n 's/^torch==//p' scripts/requirements/libtorch.txt)"
mkdir -p "$CROSS/bin" "$CROSS/stubs"

wheel_stamp="$CROSS/stamp"
if ! stamp_is "$wheel_stamp" "$version"; then
  say "libtorch $version for macOS (139 MB)"
  rm -rf "$CROSS/torch" "$CROSS/wheel"
  "$VENV/bin/python" -m pip download --disable-pip-version-check --no-deps --only-binary=:all: --platform macosx_14_0_arm64 \
    --python-version 311 -d "$CROSS/wheel" "torch==$version" || die "pip could not download torch $version for macOS"
  unzip -q -o "$CROSS"/wheel/*.whl 'torch/include/*' 'torch/lib/*.dylib' -d "$CROSS"
  rm -rf "$CROSS/wheel"
  write_stamp "$wheel_stamp" "$version"
fi

nm="$(tool llvm-nm llvm-nm-14)" || die "llvm-nm is missing"
"$VENV/bin/python" scripts/macos_stubs.py "$nm" "$CROSS/torch/lib" "$CROSS/stubs"
# The version is part of the wrapper, so that ccache notices another compiler.
cat >"$CROSS/bin/c++.new" <<EOF
#!/bin/sh
# zig $("$VENV/bin/python" -m ziglang version)
for argument; do  # zig names what a processor has in another way
  shift
  case "\$argument" in -march=armv8.2-a+*) argument="-mcpu=generic+v8_2a+\${argument#*+}" ;; esac
  set -- "\$@" "\$argument"
done
exec "$VENV/bin/python" -m ziglang c++ "\$@"
EOF
chmod +x "$CROSS/bin/c++.new"
cmp -s "$CROSS/bin/c++.new" "$CROSS/bin/c++" || mv "$CROSS/bin/c++.new" "$CROSS/bin/c++"
rm -f "$CROSS/bin/c++.new"

# Headers only, without the rest of this system's include folder.
mkdir -p "$CROSS/include" "$CROSS/cmake"
cp -R /usr/include/nlohmann "$CROSS/include/"
cat >"$CROSS/cmake/nlohmann_jsonConfig.cmake" <<'EOF'
if(TARGET nlohmann_json::nlohmann_json)
  return()
endif()
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
set_target_properties(nlohmann_json::nlohmann_json PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../include")
EOF

say "for macOS: configure"
export MACOS_CROSS_DIR="$CROSS" CCACHE_COMPILERCHECK=content
cmake -S . -B build-macos -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/macos-on-linux.cmake -DCMAKE_PREFIX_PATH="$CROSS/torch" \
  -Dnlohmann_json_DIR="$CROSS/cmake" \
  -DMILLRACE_SERVER=OFF -DMILLRACE_TESTS=OFF -DMILLRACE_BENCHMARKS=OFF -DMILLRACE_PRECOMPILE_HEADERS=OFF >build-macos.log 2>&1 ||
  { cat build-macos.log >&2; rm -f build-macos.log; die "the configuration for macOS failed"; }
rm -f build-macos.log
say "for macOS: compile and link"
cmake --build build-macos --parallel "$(jobs)" --target all millrace_kernels

# What is looked up by name has to be there too: the linker does not see it.
say "for macOS: names that are looked up at run time"
exported="$("$nm" --defined-only --extern-only "$CROSS/torch/lib/libtorch_cpu.dylib" | awk '{ print $NF }')"
for symbol in _ZN2at3mps13getStreamByIDEx _ZN2at3mps19setCurrentMPSStreamEPNS0_9MPSStreamE _ZN2at3mps17getStreamFromPoolEv \
  _ZN2at3mps24synchronizeAllMPSStreamsENS0_8SyncTypeE _ZN2at3mps9MPSStream14checkLastErrorEv _ZN2at3mps14getMPSProfilerEv; do
  grep -q "\"$symbol\"" mps_runtime/stream_symbols.h || die "$symbol is not what stream_symbols.h looks for"
  grep -qx "_$symbol" <<<"$exported" || die "libtorch $version for macOS does not export $symbol"
  note "$symbol"
done
say "macOS: compiled and linked against libtorch $version; nothing was run"
