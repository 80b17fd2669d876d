#pragma once

#include "absl/status/status.h"

namespace millrace {

// Wakes a thread that polls. Any thread may wake it, once it is open.
class WakePipe {
 public:
  WakePipe() = default;
  WakePipe(const WakePipe&) = delete;
  WakePipe& operator=(const WakePipe&) = delete;
  ~WakePipe();

  // No child inherits it. Returns Unavailable where the system has no descriptors left.
  absl::Status Open();
  // To poll for input.
  int descriptor() const { return ends_[0]; }
  void Wake() const noexcept;
  // Forgets what woke the thread. Call it before looking for what there is to do.
  void Drain() const noexcept;

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace millrace
