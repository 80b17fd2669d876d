#pragma once

#include <atomic>

namespace millrace::mps_standin {

// Keeps the greatest value that several threads have come to.
inline void RaiseTo(std::atomic<int>& most, int value) {
  int seen = most;
  while (seen < value && !most.compare_exchange_weak(seen, value)) {
  }
}

}  // namespace millrace::mps_standin
