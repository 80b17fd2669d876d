#pragma once

namespace millrace::kernels {

// The instruction sets that kernels are written for: those of x86-64, from the least to the
// greatest, and that of arm64. Each includes those before it, except that a processor may have
// AVX-512 without AVX-VNNI. Plain, because files that are compiled for newer processors than the
// rest include this.
enum class InstructionSet : unsigned char { kPortable, kAvx2, kAvxVnni, kAvx512, kAmx, kNeon };

inline constexpr InstructionSet kInstructionSets[] = {
    InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvxVnni,
    InstructionSet::kAvx512,   InstructionSet::kAmx,  InstructionSet::kNeon};

// This environment variable limits the instruction sets to those up to the one that it names.
// "auto" allows all, as does an empty value; a set of another architecture limits nothing. The
// daemon's option --cpu-isa sets it.
inline constexpr char kInstructionSetVariable[] = "MILLRACE_CPU_ISA";

// Returns "portable", "avx2", "avxvnni", "avx512", "amx" or "neon".
const char* ToString(InstructionSet set);
// Sets `set` to the instruction set with this name. Returns false, without a change, if there is
// none.
bool InstructionSetNamed(const char* name, InstructionSet& set);

// Returns true if the variable allows kernels of this set. It is read at the first call; an unknown
// name ends the process with status 2. Thread-safe.
bool MayUse(InstructionSet set);

}  // namespace millrace::kernels
