#include "models/kernels/instruction_set.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace millrace::kernels {
namespace {

constexpr const char* kNames[] = {"portable", "avx2", "avxvnni", "avx512", "amx", "neon"};

InstructionSet ReadGreatest() {
  InstructionSet greatest = kInstructionSets[std::size(kInstructionSets) - 1];
  const char* const name = std::getenv(kInstructionSetVariable);
  if (name == nullptr || *name == '\0' || std::strcmp(name, "auto") == 0) return greatest;
  if (InstructionSetNamed(name, greatest)) return greatest;
  std::fprintf(stderr, "%s: '%s' is not allowed, allowed: auto", kInstructionSetVariable, name);
  for (const char* known : kNames) std::fprintf(stderr, ", %s", known);
  std::fputc('\n', stderr);
  std::_Exit(2);
}

}  // namespace

const char* ToString(InstructionSet set) { return kNames[static_cast<unsigned char>(set)]; }

bool InstructionSetNamed(const char* name, InstructionSet& set) {
  for (unsigned char i = 0; i < std::size(kNames); ++i) {
    if (std::strcmp(name, kNames[i]) != 0) continue;
    set = static_cast<InstructionSet>(i);
    return true;
  }
  return false;
}

bool MayUse(InstructionSet set) {
  static const InstructionSet greatest = ReadGreatest();
#if defined(__aarch64__)
  // The sets of x86-64 limit nothing here.
  return set == InstructionSet::kPortable || greatest != InstructionSet::kPortable;
#else
  return set <= greatest;
#endif
}

}  // namespace millrace::kernels
