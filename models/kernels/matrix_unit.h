#pragma once

namespace millrace::kernels {

// The number types that the processor's matrix unit (AMX) multiplies. A plain struct, because files
// that are compiled for newer processors include it.
struct MatrixUnitNumbers {
  bool bfloat16 = false;
  bool int8 = false;
};

// Returns all false where there is no matrix unit, or where MayUse or the kernel does not let this
// process use it. The first call requests the permission, because the kernel does not save the
// unit's registers without it. Thread-safe.
const MatrixUnitNumbers& MatrixUnit();

}  // namespace millrace::kernels
