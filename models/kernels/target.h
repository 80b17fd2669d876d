#pragma once

#include "models/kernels/instruction_set.h"

namespace millrace::kernels {

// The instruction set for which a set of kernels was compiled, with its extensions. Plain, because
// files that are compiled for newer processors than the rest include this.
enum class Target : unsigned char {
  kPortable,
  kAvx2,        // with FMA
  kAvxVnni,     // dot products of int8 in 256 bits, beside kAvx2
  kAvx512,      // F, BW, DQ and VL
  kAvx512Vnni,  // dot products of int8
  kAvx512Bf16,  // dot products of bfloat16
  kAmxInt8,     // the matrix unit, beside kAvx512Vnni
  kAmxBf16,     // the matrix unit, beside kAvx512Bf16
  kNeon,
  kNeonDotProduct,  // dot products of int8
  kNeonInt8Matrix,  // products of small matrices of int8, beside kNeonDotProduct
};

// Returns true if this process may run kernels of the target: the processor has what it needs, the
// operating system lets the process use it, and so does MayUse. Thread-safe.
bool CanRun(Target target);

// Returns the greatest instruction set of which kernels can run. Thread-safe.
InstructionSet BestInstructionSet();

}  // namespace millrace::kernels
