#!/usr/bin/env bash
# Builds the fuzz targets with libFuzzer, AddressSanitizer and UBSan, and runs them one after the other. What they find is kept in
# var/fuzz: a corpus for each target, and the inputs that failed. Usage: fuzz.sh [SECONDS of each target, default 60] [TARGET...], for
# example fuzz.sh 600 wyoming
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

each="${1:-60}"
[ $# -eq 0 ] || shift
case "$each" in
  ''|*[!0-9]*|0) die "SECONDS: '$each' is not allowed, allowed: a whole number of seconds, 1 or more" ;;
esac
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cc; do targets+=("$(basename "$source" _fuzz.cc)"); done
fi
for target in "${targets[@]}"; do
  [ -f "tests/fuzz/${target}_fuzz.cc" ] || die "$target: there is no tests/fuzz/${target}_fuzz.cc"
done

say "build of ${#targets[@]} fuzz targets with $(jobs) jobs"
mkdir -p build-fuzz
if ! cmake --preset asan -B build-fuzz -DMILLRACE_FUZZERS=ON -DMILLRACE_TESTS=ON -DMILLRACE_BENCHMARKS=OFF >build-fuzz/configure.log 2>&1; then
  cat build-fuzz/configure.log >&2
  die "cmake could not configure build-fuzz/; its message is above"
fi
cmake --build build-fuzz --parallel "$(jobs)" --target "${targets[@]/%/_fuzz}" || die "the build failed; the compiler's message is above"

# Short inputs leave time for more of them; seeds that are longer are replayed in full by the tests. The stacks of allocations, the
# names of functions and a corpus that others add to cost time in each run: the report of a finding has them when its input is run
# again. The time limit of a run is one of the clock, which goes on while other work has the processors.
options=(-max_len=1024 -reload=0 -print_funcs=0 -timeout=120 -print_final_stats=1)
export ASAN_OPTIONS="quarantine_size_mb=16:malloc_context_size=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

failed=()
printf '%-20s %14s %10s %10s  %s\n' target executions edges seconds result
for target in "${targets[@]}"; do
  corpus="var/fuzz/corpus/$target" findings="var/fuzz/findings/$target" log="var/fuzz/$target.log"
  mkdir -p "$corpus" "$findings"
  result="no finding" begin=$SECONDS
  "build-fuzz/tests/fuzz/${target}_fuzz" -max_total_time="$each" "${options[@]}" -artifact_prefix="$findings/" \
    "$corpus" "tests/fuzz/seeds/$target" >"$log" 2>&1 || { failed+=("$target"); result="FAILED: see $log and $findings/"; }
  executions="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)"
  edges="$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)"
  printf '%-20s %14s %10s %10s  %s\n' "$target" "${executions:--}" "${edges:--}" "$((SECONDS - begin))" "$result"
done
[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}" "An input that fails becomes a seed in tests/fuzz/seeds/ once its cause is mended."
