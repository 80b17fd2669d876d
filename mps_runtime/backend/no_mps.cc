#include "mps_runtime/backend.h"

namespace millrace::runtime {

std::unique_ptr<Backend> MakeMpsBackend() { return nullptr; }

}  // namespace millrace::runtime
