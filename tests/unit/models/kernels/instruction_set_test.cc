#include "models/kernels/instruction_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "models/kernels/conv_kernels.h"
#include "models/kernels/float_kernels.h"
#include "models/kernels/integer_kernels.h"
#include "models/kernels/matrix_unit.h"
#include "models/kernels/narrow_kernels.h"

namespace millrace::kernels {
namespace {

using ::testing::HasSubstr;

// Names of the sets of each dispatcher that may run.
std::vector<std::vector<std::string_view>> Dispatched() {
  std::vector<std::vector<std::string_view>> all(5);
  for (const IntegerKernels* set : SupportedIntegerKernels()) all[0].push_back(set->name);
  for (const FloatKernels* set : SupportedFloatKernels()) all[1].push_back(set->name);
  for (const NarrowKernels* set : SupportedInt8Kernels()) all[2].push_back(set->name);
  for (const NarrowKernels* set : SupportedBfloatKernels()) all[3].push_back(set->name);
  for (const ConvKernels* set : SupportedConvKernels()) all[4].push_back(set->name);
  return all;
}

// Returns true if each dispatcher has something to run and nothing that begins with one of these.
bool NoneIs(std::initializer_list<std::string_view> forbidden) {
  for (const auto& names : Dispatched()) {
    if (names.empty()) return false;
    for (const std::string_view name : names) {
      for (const std::string_view other : forbidden) {
        if (!name.starts_with(other)) continue;
        std::fprintf(stderr, "%.*s may run\n", static_cast<int>(name.size()), name.data());
        return false;
      }
    }
  }
  return !MatrixUnit().int8 && !MatrixUnit().bfloat16;
}

// The variable is read once, so that each value of it takes a process of its own.
void ExpectNone(const char* greatest, std::initializer_list<std::string_view> forbidden) {
  EXPECT_EXIT(
      {
        setenv(kMaxInstructionSetVariable, greatest, 1);
        std::_Exit(NoneIs(forbidden) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "")
      << greatest;
}

TEST(InstructionSetDeathTest, EveryDispatcherKeepsToTheGreatestThatMayRun) {
  ExpectNone("portable", {"avx2", "avx512", "amx"});
  ExpectNone("avx2", {"avx512", "amx"});
  ExpectNone("avx512", {"amx"});
}

TEST(InstructionSetDeathTest, ANameThatThereIsNotEndsTheProcess) {
  EXPECT_EXIT(
      {
        setenv(kMaxInstructionSetVariable, "avx3", 1);
        MayUse(InstructionSet::kPortable);
      },
      ::testing::ExitedWithCode(2),
      "MILLRACE_MAX_CPU_ISA: 'avx3' is not allowed, allowed: portable, avx2, avx512, amx");
}

TEST(InstructionSetTest, EveryNameThatIsListedIsOne) {
  InstructionSet set{};
  for (const char* name : {"portable", "avx2", "avx512", "amx"}) {
    EXPECT_TRUE(InstructionSetNamed(name, set)) << name;
    EXPECT_THAT(kInstructionSetNames, HasSubstr(name));
  }
  EXPECT_EQ(set, InstructionSet::kAmx);
  for (const char* name : {"", "AVX2", "avx", "avx2 "})
    EXPECT_FALSE(InstructionSetNamed(name, set)) << name;
  EXPECT_EQ(set, InstructionSet::kAmx);
}

}  // namespace
}  // namespace millrace::kernels
