#include "server/executors/restart_policy.h"

#include <algorithm>

namespace millrace::server {

Duration RestartPolicy::OnEnd(const End& end) {
  if (end.worked) fruitless_ = 0;
  if (end.started && end.served >= kForgiven) deaths_ = 0;
  if (end.started && end.killed) return Duration{};
  if (!end.worked) ++fruitless_;
  // One that is killed while it starts has run no step to blame, but may be killed each time.
  const int row = end.killed ? fruitless_ - 1 : deaths_++;
  return backoff_[std::min(static_cast<size_t>(row), backoff_.size() - 1)];
}

}  // namespace millrace::server
