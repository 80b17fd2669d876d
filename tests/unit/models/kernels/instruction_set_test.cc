#include "models/kernels/instruction_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "models/kernels/arm_features.h"
#include "models/kernels/conv_kernels.h"
#include "models/kernels/float_kernels.h"
#include "models/kernels/integer_kernels.h"
#include "models/kernels/matrix_unit.h"
#include "models/kernels/narrow_kernels.h"
#include "models/kernels/target.h"

namespace millrace::kernels {
namespace {

using ::testing::AnyOf;
using ::testing::Not;
using ::testing::StartsWith;

#if defined(__aarch64__)
constexpr char kForeign[] = "avx2";
#else
constexpr char kForeign[] = "neon";
#endif

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

bool Has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the least set above the portable one that this processor has, or else that one.
InstructionSet Least() {
#if defined(__aarch64__)
  return InstructionSet::kNeon;
#else
  return __builtin_cpu_supports("avx2") ? InstructionSet::kAvx2 : InstructionSet::kPortable;
#endif
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
  ExpectNone("portable", {"avx2", "avx512", "amx", "neon"});
  ExpectNone("avx2", {"avxvnni", "avx512", "amx"});
  ExpectNone("avxvnni", {"avx512", "amx"});
  ExpectNone("avx512", {"amx"});
}

TEST(InstructionSetDeathTest, ASetOfAnotherArchitectureLimitsNothing) {
  EXPECT_EXIT(
      {
        setenv(kInstructionSetVariable, kForeign, 1);
        std::_Exit(BestInstructionSet() >= Least() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(InstructionSetDeathTest, ANameThatThereIsNotEndsTheProcess) {
  EXPECT_EXIT(
      {
        setenv(kInstructionSetVariable, "avx3", 1);
        MayUse(InstructionSet::kPortable);
      },
      ::testing::ExitedWithCode(2),
      "MILLRACE_CPU_ISA: 'avx3' is not allowed, allowed: auto, portable, avx2, avxvnni, avx512, "
      "amx, neon");
}

TEST(InstructionSetTest, NamesAreReadAsTheyAreWritten) {
  for (const InstructionSet written : kInstructionSets) {
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
  for (const InstructionSet allowed : {InstructionSet::kPortable, Least()}) {
    EXPECT_EXIT(
        {
          setenv(kInstructionSetVariable, ToString(allowed), 1);
          std::_Exit(BestInstructionSet() == allowed ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "")
        << ToString(allowed);
  }
}

TEST(InstructionSetTest, KernelsOfAnotherArchitectureAreNotThere) {
  for (const auto& names : Dispatched()) {
    for (const std::string_view name : names) {
#if defined(__aarch64__)
      EXPECT_THAT(name, AnyOf("portable", StartsWith("neon")));
#else
      EXPECT_THAT(name, Not(StartsWith("neon")));
#endif
    }
  }
}

// AVX-VNNI and the extensions of arm64 have kernels of their own for int8 alone.
TEST(InstructionSetTest, KernelsForInt8AreThoseOfTheExtensionsThatAreThere) {
  const std::vector<std::vector<std::string_view>> all = Dispatched();
  for (const auto& names : {all[0], all[2]}) {
    const bool neon = MayUse(InstructionSet::kNeon) && Least() == InstructionSet::kNeon;
    const ArmFeatures& features = GetArmFeatures();
    EXPECT_EQ(Has(names, "avxvnni"), CanRun(Target::kAvxVnni));
    EXPECT_EQ(Has(names, "neon"), neon);
    EXPECT_EQ(Has(names, "neon_dotprod"), neon && features.dot_product);
    EXPECT_EQ(Has(names, "neon_i8mm"), neon && features.dot_product && features.int8_matrix);
  }
}

}  // namespace
}  // namespace millrace::kernels
