#include "models/kernels/instruction_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "models/kernels/conv_kernels.h"
#include "models/kernels/float_kernels.h"
#include "models/kernels/integer_kernels.h"
#include "models/kernels/matrix_unit.h"
#include "models/kernels/narrow_kernels.h"
#include "models/kernels/target.h"

namespace millrace::kernels {
namespace {

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
        setenv(kInstructionSetVariable, greatest, 1);
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
        setenv(kInstructionSetVariable, "avx3", 1);
        MayUse(InstructionSet::kPortable);
      },
      ::testing::ExitedWithCode(2),
      "MILLRACE_CPU_ISA: 'avx3' is not allowed, allowed: auto, portable, avx2, avx512, amx");
}

TEST(InstructionSetTest, NamesAreReadAsTheyAreWritten) {
  for (const InstructionSet written : {InstructionSet::kPortable, InstructionSet::kAvx2,
                                       InstructionSet::kAvx512, InstructionSet::kAmx}) {
    InstructionSet read{};
    EXPECT_TRUE(InstructionSetNamed(ToString(written), read));
    EXPECT_EQ(read, written);
  }
  InstructionSet set = InstructionSet::kAmx;
  for (const char* name : {"", "auto", "AVX2", "avx", "avx2 "})
    EXPECT_FALSE(InstructionSetNamed(name, set)) << name;
  EXPECT_EQ(set, InstructionSet::kAmx);
}

TEST(InstructionSetDeathTest, TheBestSetIsTheGreatestThatIsAllowedAndThere) {
  for (const InstructionSet allowed : {InstructionSet::kPortable, InstructionSet::kAvx2}) {
    EXPECT_EXIT(
        {
          const InstructionSet there =
              __builtin_cpu_supports("avx2") ? InstructionSet::kAvx2 : InstructionSet::kPortable;
          setenv(kInstructionSetVariable, ToString(allowed), 1);
          std::_Exit(BestInstructionSet() == std::min(allowed, there) ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "")
        << ToString(allowed);
  }
  ExpectNone("auto", {"neon"});
}

}  // namespace
}  // namespace millrace::kernels
