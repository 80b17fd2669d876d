#include "server/cpu_isa.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "models/kernels/target.h"

namespace millrace::server {
namespace {

using kernels::InstructionSet;

// The limit holds for the life of a process, so that each takes one of its own, which says on
// standard error what came of it.
void Limit(InstructionSet set) {
  const absl::Status status = LimitCpuIsa(set);
  const char* aten = std::getenv("ATEN_CPU_CAPABILITY");
  std::fprintf(stderr, "%s; %s; ATen: %s\n", std::string(status.message()).c_str(),
               kernels::ToString(kernels::BestInstructionSet()), aten == nullptr ? "" : aten);
  std::_Exit(status.ok() ? 0 : 1);
}

TEST(LimitCpuIsaDeathTest, ASetOfAnotherArchitectureIsRefusedWithWhatIsThere) {
#if defined(__aarch64__)
  EXPECT_EXIT(Limit(InstructionSet::kAvx2), ::testing::ExitedWithCode(1),
              "cpu-isa: this processor has no avx2; the greatest below it that it has is neon");
#else
  EXPECT_EXIT(Limit(InstructionSet::kNeon), ::testing::ExitedWithCode(1),
              "cpu-isa: this processor has no neon; the greatest below it that it has is "
              "(portable|a[mv]x)");
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "there is nothing beyond portable code";
  EXPECT_EXIT(Limit(InstructionSet::kNeon), ::testing::ExitedWithCode(1), "it has is a[mv]x");
#endif
}

TEST(LimitCpuIsaDeathTest, PortableHoldsForKernelsAndLibraries) {
  EXPECT_EXIT(Limit(InstructionSet::kPortable), ::testing::ExitedWithCode(0),
              "; portable; ATen: default");
}

#if defined(__aarch64__)
TEST(LimitCpuIsaDeathTest, NeonIsWhatEveryProcessorHas) {
  EXPECT_EXIT(Limit(InstructionSet::kNeon), ::testing::ExitedWithCode(0), "; neon; ATen: default");
}
#endif

}  // namespace
}  // namespace millrace::server
