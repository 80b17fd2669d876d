#pragma once

#include <string>

namespace millrace::mps_standin {

// Ends the process as Metal's and libdispatch's assertions do: the message on stderr, then abort().
[[noreturn]] void Violation(const std::string& message);

// Returns true if the calling thread is the one that main() runs on.
bool OnMainThread();

// For what libtorch initialises without a lock at its first use: ends the process when that first
// use is not the main thread's. `what` is for the message; `seen` belongs to the thing.
class FirstUse {
 public:
  explicit FirstUse(const char* what) : what_(what) {}
  void Check();

 private:
  const char* const what_;
  bool seen_ = false;  // as racy as in libtorch: only read after the main thread has written it
};

}  // namespace millrace::mps_standin
