#include "mps_runtime/backend.h"

namespace millrace::runtime {

std::unique_ptr<Backend> MakeMpsBackend(std::string& why_not) {
  why_not = "this build has no MPS backend";
  return nullptr;
}

}  // namespace millrace::runtime
