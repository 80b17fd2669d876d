#include "server/cpu_isa.h"

#include <cstdlib>

#include "models/core/errors.h"
#include "models/kernels/target.h"

namespace millrace::server {
namespace {

// The names of an instruction set in the environment variables that limit each library.
struct LibraryNames {
  const char* aten;
  const char* onednn;
  const char* mkl = nullptr;  // MKL is for x86-64 only
};

#if defined(__aarch64__)
// NEON is the least that these libraries use.
LibraryNames NamesOf(kernels::InstructionSet) { return {"default", "ADVANCED_SIMD"}; }
#else
LibraryNames NamesOf(kernels::InstructionSet set) {
  switch (set) {
    case kernels::InstructionSet::kPortable:
      return {"default", "SSE41", "SSE4_2"};
    case kernels::InstructionSet::kAvx2:
      return {"avx2", "AVX2", "AVX2"};
    case kernels::InstructionSet::kAvxVnni:
      return {"avx2", "AVX2_VNNI", "AVX2"};
    case kernels::InstructionSet::kAvx512:
      return {"avx512", "AVX512_CORE_BF16", "AVX512"};
    case kernels::InstructionSet::kAmx:
    case kernels::InstructionSet::kNeon:
      break;
  }
  return {"avx512", "DEFAULT", "AVX512"};
}
#endif

}  // namespace

absl::Status LimitCpuIsa(std::optional<kernels::InstructionSet> limit) {
  if (!limit) return absl::OkStatus();
  setenv(kernels::kInstructionSetVariable, kernels::ToString(*limit), 1);
  const kernels::InstructionSet best = kernels::BestInstructionSet();
  if (best != *limit) {
    return InvalidArgument("cpu-isa: this processor has no ", kernels::ToString(*limit),
                           "; the greatest below it that it has is ", kernels::ToString(best));
  }
  const LibraryNames names = NamesOf(*limit);
  setenv("ATEN_CPU_CAPABILITY", names.aten, 1);
  setenv("ONEDNN_MAX_CPU_ISA", names.onednn, 1);
  if (names.mkl != nullptr) setenv("MKL_ENABLE_INSTRUCTIONS", names.mkl, 1);
  return absl::OkStatus();
}

}  // namespace millrace::server
