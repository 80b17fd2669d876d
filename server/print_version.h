#pragma once

#include "mps_runtime/provenance.h"

namespace millrace {

// Prints the answer of `millrace version` on standard output.
void PrintVersion(const runtime::Provenance& libtorch);

}  // namespace millrace
