#include "models/kernels/instruction_set.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace millrace::kernels {
namespace {

InstructionSet ReadGreatest() {
  InstructionSet greatest = InstructionSet::kAmx;
  const char* const name = std::getenv(kMaxInstructionSetVariable);
  if (name == nullptr || *name == '\0' || InstructionSetNamed(name, greatest)) return greatest;
  std::fprintf(stderr, "%s: '%s' is not allowed, allowed: %s\n", kMaxInstructionSetVariable, name,
               kInstructionSetNames);
  std::_Exit(2);
}

}  // namespace

bool InstructionSetNamed(const char* name, InstructionSet& set) {
  constexpr const char* kNames[] = {"portable", "avx2", "avx512", "amx"};
  for (unsigned char i = 0; i < 4; ++i) {
    if (std::strcmp(name, kNames[i]) != 0) continue;
    set = static_cast<InstructionSet>(i);
    return true;
  }
  return false;
}

bool MayUse(InstructionSet set) {
  static const InstructionSet greatest = ReadGreatest();
  return set <= greatest;
}

}  // namespace millrace::kernels
