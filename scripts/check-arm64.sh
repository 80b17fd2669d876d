#!/usr/bin/env bash
# Compiles the whole project for Linux on arm64 with Debian's cross compiler and runs its C++ tests under qemu-user, those of the kernels with
# several emulated processors. Debian's packages for arm64 are unpacked into a folder, so that nothing of this system changes.
# Usage: check-arm64.sh [TARGET...]   (test programs, or other targets, which are only built; none: everything)
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[ "$(uname -sm)" = "Linux x86_64" ] || die "this check is for Linux on x86-64: elsewhere run make test"
CROSS="$ROOT/var/arm64"
SYSROOT="$CROSS/sysroot"
KERNEL_TESTS=(instruction_set_test kernels_test parallel_kernels_test integer_kernels_test)
targets=("$@")
[ $# -gt 0 ] || targets=(all)
mkdir -p "$CROSS/bin"

# --- Debian's packages for arm64 ---

# apt with lists, a cache and a list of installed packages of its own.
apt_arm64() {
  apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root -o APT::Install-Recommends=false \
    -o Dir::State="$CROSS/apt/state" -o Dir::State::status="$CROSS/apt/status" -o Dir::Cache="$CROSS/apt/cache" "$@"
}

# For headers and libraries; programs that run while building are this machine's.
packages="$(grep -h -- '-dev$' scripts/packages/debian-serve.txt scripts/packages/debian-test.txt | grep -v '^libclang-rt-' | sort -u)"
packages_stamp="$CROSS/stamps/packages"
packages_hash="$(hash_of <(echo "$packages"))"
if ! stamp_is "$packages_stamp" "$packages_hash"; then
  say "Debian's packages for arm64"
  mkdir -p "$CROSS/apt/state/lists/partial" "$CROSS/apt/cache/archives/partial"
  : >"$CROSS/apt/status"
  apt_arm64 update || die "apt-get could not read the lists of packages for arm64"
  # shellcheck disable=SC2086  # one word a package
  apt_arm64 install -y --download-only $packages libc6-dev libstdc++-12-dev ||
    die "apt-get could not download packages for arm64" "run the same command again when the archive is in reach"
  rm -rf "$SYSROOT"
  # As in an installed system, whose /lib is a link.
  mkdir -p "$SYSROOT/usr/lib" "$SYSROOT/usr/bin" "$SYSROOT/usr/sbin"
  ln -s usr/lib "$SYSROOT/lib"
  ln -s usr/bin "$SYSROOT/bin"
  ln -s usr/sbin "$SYSROOT/sbin"
  for package in "$CROSS"/apt/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$SYSROOT" --keep-directory-symlink --no-same-owner
  done
  # Links to absolute paths would lead out of the folder.
  find "$SYSROOT" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$SYSROOT$(readlink "$link")" "$link"
  done
  rm -rf "$CROSS/apt"
  write_stamp "$packages_stamp" "$packages_hash"
fi

# libtorch reads the registers and features of the processor when it is loaded. These files describe a Neoverse N1 with the extensions of
# qemu's processor; the emulator takes files of the sysroot for those of the system.
mkdir -p "$SYSROOT/proc"
: >"$SYSROOT/proc/cpuinfo"
for ((cpu = 0; cpu < $(nproc --all); cpu++)); do
  registers="$SYSROOT/sys/devices/system/cpu/cpu$cpu/regs/identification"
  mkdir -p "$registers"
  echo 0x00000000410fd0c0 >"$registers/midr_el1"
  cat >>"$SYSROOT/proc/cpuinfo" <<EOF
processor	: $cpu
BogoMIPS	: 50.00
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs i8mm bf16
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x3
CPU part	: 0xd0c
CPU revision	: 1

EOF
done

# --- libtorch ---

# The wheel is the CUDA build, so it loads CUDA's runtime and CUPTI on the CPU, too.
requirements="scripts/requirements/libtorch.txt"
version="$(sed -n 's/^torch==//p' "$requirements")"
libtorch_stamp="$CROSS/stamps/libtorch"
libtorch_hash="$(hash_of "$requirements")"
if ! stamp_is "$libtorch_stamp" "$libtorch_hash" || [ ! -f "$CROSS/torch/version.py" ]; then
  say "libtorch $version for arm64 (498 MB)"
  rm -rf "$CROSS/torch" "$CROSS/nvidia" "$CROSS/wheels"
  platforms=()
  for glibc in $(seq 17 36); do platforms+=(--platform "manylinux_2_${glibc}_aarch64"); done
  # shellcheck disable=SC2046  # one word a package
  "$VENV/bin/python" -m pip download --disable-pip-version-check --no-deps --only-binary=:all: "${platforms[@]}" --python-version 311 \
    -d "$CROSS/wheels" $(sed -En 's/^((torch|nvidia-cuda-runtime|nvidia-cuda-cupti)==[0-9.]+).*/\1/p' "$requirements") ||
    die "pip could not download libtorch $version for arm64"
  # The libraries for Python and for GPUs are not unpacked.
  unzip -q -o "$CROSS"/wheels/torch-*.whl 'torch/version.py' 'torch/include/*' 'torch/lib/*.so*' -x '*/lib/*cuda*' '*/lib/*python*' '*/lib/*nv[rs]*' \
    '*/lib/*shm*' -d "$CROSS"
  unzip -q -o "$CROSS"/wheels/nvidia_cuda_runtime-*.whl 'nvidia/*/lib/libcudart.so*' -d "$CROSS"
  unzip -q -o "$CROSS"/wheels/nvidia_cuda_cupti-*.whl 'nvidia/*/lib/libcupti.so*' -d "$CROSS"
  rm -rf "$CROSS/wheels"
  write_stamp "$libtorch_stamp" "$libtorch_hash"
fi

# --- build and test ---

if mold="$(command -v mold)"; then ln -sfn "$mold" "$CROSS/bin/ld.mold"; fi
say "for arm64: configure"
cmake -S . -B build-arm64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/arm64-on-linux.cmake -DTORCH_INCLUDE_DIR="$CROSS/torch/include" \
  -DMILLRACE_BENCHMARKS=OFF >build-arm64.log 2>&1 ||
  { cat build-arm64.log >&2; rm -f build-arm64.log; die "the configuration for arm64 failed"; }
rm -f build-arm64.log
say "for arm64: compile ${targets[*]}"
cmake --build build-arm64 --parallel "$(jobs)" --target "${targets[@]}"

run_tests() {
  ctest --test-dir build-arm64 --output-on-failure --parallel "$(jobs)" --timeout 1800 --no-tests=ignore "$@"
}

say "for arm64: tests on an emulated processor with all extensions"
# These take minutes in the emulator, die there without their message, start a program that is not there, which the emulator itself does, or
# send more events in a second than it can.
left_out='*AnyCutGivesTheSameBits*00_rows:*DeathTest*:EspeakProcessTest.AProgramThatCannotStartIsAnError'
left_out+=':SpeakingSessionTest.AFloodOfEventsEndsTheSession'
# These start programs for arm64, or are of Apple's GPU; what is portable is the same code as elsewhere, and the kernels' tests have it.
programs_left_out='^(mps_standin|mps_pool|mps_no_pool|SelftestOnMps|child_process|probe_test|Mutation|ConformanceOf|models_on_patched|torchscript_mps|load_)'
programs_left_out+='|\.portable$'
# Signed pointers take longer than all else in the emulator if they are not of its own kind.
export QEMU_CPU=max,pauth-impdef=on GTEST_FILTER="-$left_out"
if [ $# -gt 0 ]; then
  run_tests -R "^($(IFS='|' && echo "$*"))\$"
else
  run_tests -E "$programs_left_out"
fi

# The products of int8 once more without some extensions, and that they are what such a processor takes.
[ $# -eq 0 ] || exit 0
integer_kernels_test="build-arm64/tests/unit/models/bergamot/integer_kernels_test"
for processor in cortex-a72:neon cortex-a76:neon_dotprod max:neon_i8mm; do
  export QEMU_CPU="${processor%:*}" expected="${processor#*:}"
  listed="$(qemu-aarch64 -L "$SYSROOT" "$integer_kernels_test" --gtest_list_tests)"
  # The tests of the best kernels are listed first.
  best="$(sed -En '/^  [A-Za-z]+\//{s|^[^/]*/([a-z0-9_]+).*|\1|p;q}' <<<"$listed")"
  [ "$best" = "$expected" ] || die "the best products of int8 on $QEMU_CPU are '$best', not '$expected'"
  say "for arm64: products of int8 on $QEMU_CPU ($best)"
  [ "$QEMU_CPU" = max ] || GTEST_FILTER='InstructionSet*:*Int8*:Supported/KernelsTest*' run_tests -R "^($(IFS='|' && echo "${KERNEL_TESTS[*]}"))\$"
done

# The daemon itself, whose integers give the same translation on all processors.
[ -d "$MODELS/bergamot-en-pt" ] || die "the demo models are missing" "run make models"
say "for arm64: the daemon translates"
work="$(mktemp -d)"
daemon=""
trap '[ -z "$daemon" ] || kill "$daemon" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/models"
ln -s "$MODELS/bergamot-en-pt" "$work/models/"
QEMU_CPU=max,pauth-impdef=on qemu-aarch64 -L "$SYSROOT" build-arm64/millrace-server serve --models "$work/models" --workers 2 \
  --grpc-address 127.0.0.1:0 --http-address 127.0.0.1:0 --metrics-address off --port-file "$work/ports" >"$work/log" 2>&1 &
daemon=$!
for _ in $(seq 240); do
  [ ! -f "$work/ports" ] || break
  kill -0 "$daemon" 2>/dev/null || break
  sleep 0.5
done
[ -f "$work/ports" ] || { cat "$work/log" >&2; die "the daemon for arm64 does not serve; its log is above"; }
port="$("$VENV/bin/python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["http"])' "$work/ports")"
# A request that fails leaves an answer that the comparison below reports.
answer="$(curl -s --max-time 120 "http://127.0.0.1:$port/translate" -H 'content-type: application/json' \
  -d '{"q": "The children were playing in the garden.", "source": "en", "target": "pt"}')" || true
[ "$answer" = '{"translatedText":"As crianças brincavam no jardim."}' ] || die "the daemon for arm64 answers '$answer'"
say "Linux on arm64: compiled; what is above ran under qemu-user"
