#pragma once

namespace millrace::kernels {

// The extensions of an arm64 processor that kernels are written for. A plain struct, because files
// that are compiled for newer processors may include it.
struct ArmFeatures {
  bool dot_product = false;  // FEAT_DotProd: SDOT
  bool int8_matrix = false;  // FEAT_I8MM: SMMLA
};

// Returns what this processor has; all false on other architectures. Thread-safe.
const ArmFeatures& GetArmFeatures();

}  // namespace millrace::kernels
