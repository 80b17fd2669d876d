#include "mps_runtime/backend.h"
#include "mps_runtime/queue_hold.h"

namespace millrace::runtime {

std::unique_ptr<Backend> MakeMpsBackend(std::string& why_not) {
  why_not = "this build has no MPS backend";
  return nullptr;
}

QueueHold::QueueHold(std::chrono::milliseconds) {}
QueueHold::~QueueHold() = default;

}  // namespace millrace::runtime
