#pragma once

#include <cstddef>

namespace millrace::server {

// Memory on which the thread that makes it handles signals, as long as it lives: a handler cannot
// run on a stack that has overflown. Without memory for it, the thread goes on as it was.
class SignalStack {
 public:
  SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

 private:
  void* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace millrace::server
