#pragma once

namespace millrace::kernels {

// What the processor's matrix unit (AMX) multiplies. Plain, for files that are compiled for newer
// processors than the rest.
struct MatrixUnitNumbers {
  bool bfloat16 = false;
  bool int8 = false;
};

// All false where there is none, or MayUse or the kernel does not let this process use it. Asks for
// leave at the first call: its registers are not saved for those who have not. Thread-safe.
const MatrixUnitNumbers& MatrixUnit();

}  // namespace millrace::kernels
