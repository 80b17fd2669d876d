#pragma once

#include "mps_runtime/provenance.h"

namespace millrace {

// What `millrace version` prints, on standard output.
void PrintVersion(const runtime::Provenance& libtorch);

}  // namespace millrace
