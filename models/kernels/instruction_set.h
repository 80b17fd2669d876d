#pragma once

namespace millrace::kernels {

// The instruction sets that kernels are written for; each includes those before it. Plain, because
// files that are compiled for newer processors than the rest include this.
enum class InstructionSet : unsigned char { kPortable, kAvx2, kAvx512, kAmx };

// This environment variable limits the instruction sets, so that tests and measurements can
// reproduce the results of other machines. ATen, oneDNN and MKL have variables of their own.
inline constexpr char kMaxInstructionSetVariable[] = "MILLRACE_MAX_CPU_ISA";
inline constexpr char kInstructionSetNames[] = "portable, avx2, avx512, amx";

// Sets `set` to the instruction set with this name, such as "avx2". Returns false, without a
// change, if there is none.
bool InstructionSetNamed(const char* name, InstructionSet& set);

// Returns true if kernels of this set may run where the processor has it: all may, unless the
// variable names the greatest that may. It is read at the first call; an unknown name ends the
// process with status 2. Thread-safe.
bool MayUse(InstructionSet set);

}  // namespace millrace::kernels
