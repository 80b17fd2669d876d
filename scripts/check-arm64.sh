#!/usr/bin/env bash
# Compiles for Linux on arm64 with Debian's cross compiler and runs C++ tests under qemu-user, those of the kernels with several emulated
# processors. Debian's packages for arm64 are unpacked into a folder, so that nothing of this system changes.
# Usage: check-arm64.sh [TARGET...]   (test programs, or other targets, which are only built; none: those below)
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[ "$(uname -sm)" = "Linux x86_64" ] || die "this check is for Linux on x86-64: elsewhere run make test"
CROSS="$ROOT/var/arm64"
SYSROOT="$CROSS/sysroot"
KERNEL_TESTS=(instruction_set_test kernels_test integer_kernels_test)
if [ $# -gt 0 ]; then
  targets=("$@")
else
  targets=("${KERNEL_TESTS[@]}" cpu_isa_test mps_runtime_base_test mps_runtime_profile_test)
fi
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

# --- libtorch ---

# The wheel is the CUDA build, so it loads CUDA's runtime and CUPTI on the CPU, too.
requirements="scripts/requirements/libtorch.txt"
version="$(sed -n 's/^torch==//p' "$requirements")"
libtorch_stamp="$CROSS/stamps/libtorch"
libtorch_hash="$(hash_of "$requirements")"
if ! stamp_is "$libtorch_stamp" "$libtorch_hash"; then
  say "libtorch $version for arm64 (498 MB)"
  rm -rf "$CROSS/torch" "$CROSS/nvidia" "$CROSS/wheels"
  platforms=()
  for glibc in $(seq 17 36); do platforms+=(--platform "manylinux_2_${glibc}_aarch64"); done
  # shellcheck disable=SC2046  # one word a package
  "$VENV/bin/python" -m pip download --disable-pip-version-check --no-deps --only-binary=:all: "${platforms[@]}" --python-version 311 \
    -d "$CROSS/wheels" $(sed -En 's/^((torch|nvidia-cuda-runtime|nvidia-cuda-cupti)==[0-9.]+).*/\1/p' "$requirements") ||
    die "pip could not download libtorch $version for arm64"
  # The libraries for Python and for GPUs are not unpacked.
  unzip -q -o "$CROSS"/wheels/torch-*.whl 'torch/include/*' 'torch/lib/*.so*' -x '*/lib/*cuda*' '*/lib/*python*' '*/lib/*nv[rs]*' \
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
  ctest --test-dir build-arm64 --output-on-failure --parallel "$(jobs)" --no-tests=ignore -R "^($(IFS='|' && echo "$*"))(\.portable)?\$"
}

say "for arm64: tests on an emulated processor with all extensions"
# Every cut of a long convolution takes minutes in the emulator. The other three die there as they should, but without their message.
left_out='*AnyCutGivesTheSameBits*00_rows:LimiterDeathTest.DyingWithPermitsOutEndsTheProcess'
left_out+=':StreamPoolDeathTest.ReturningOnAnotherThreadEndsTheProcess:StreamPoolDeathTest.DyingWithLeasesOutEndsTheProcess'
GTEST_FILTER="-$left_out" run_tests "${targets[@]}"

# The products of int8 once more without some extensions, and that they are what such a processor takes.
integer_kernels_test="build-arm64/tests/unit/models/bergamot/integer_kernels_test"
for processor in cortex-a72:neon cortex-a76:neon_dotprod max:neon_i8mm; do
  [[ " ${targets[*]} " == *" integer_kernels_test "* ]] || break
  export QEMU_CPU="${processor%:*}" expected="${processor#*:}"
  listed="$(qemu-aarch64 -L "$SYSROOT" "$integer_kernels_test" --gtest_list_tests)"
  # The tests of the best kernels are listed first.
  best="$(sed -En '/^  [A-Za-z]+\//{s|^[^/]*/([a-z0-9_]+).*|\1|p;q}' <<<"$listed")"
  [ "$best" = "$expected" ] || die "the best products of int8 on $QEMU_CPU are '$best', not '$expected'"
  say "for arm64: products of int8 on $QEMU_CPU ($best)"
  [ "$QEMU_CPU" = max ] || GTEST_FILTER='InstructionSet*:*Int8*:Supported/KernelsTest*' run_tests "${KERNEL_TESTS[@]}"
done
say "Linux on arm64: compiled; what is above ran under qemu-user"
