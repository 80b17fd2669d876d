#include "server/executors/restart_policy.h"

#include <algorithm>

namespace millrace::server {

Duration RestartPolicy::OnEnd(const End& end) {
  if (end.worked) fruitless_ = 0;
  if (end.started && end.served >= kForgiven) deaths_ = 0;
  if (end.started && end.killed) return Duration{};
  if (!end.worked) ++fruitless_;
  return backoff_[std::min(static_cast<size_t>(deaths_++), backoff_.size() - 1)];
}

}  // namespace millrace::server
