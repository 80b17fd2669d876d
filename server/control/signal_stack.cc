#include "server/control/signal_stack.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace millrace::server {
namespace {

// Beside what the system saves there of the processor, whose size is known at run time only. Pages
// that no handler touches cost nothing.
constexpr size_t kHandlerBytes = size_t{64} << 10;

size_t StackBytes() {
#ifdef _SC_MINSIGSTKSZ
  const long saved = sysconf(_SC_MINSIGSTKSZ);
#else
  const long saved = MINSIGSTKSZ;
#endif
  return kHandlerBytes + static_cast<size_t>(std::max(saved, 0L));
}

}  // namespace

SignalStack::SignalStack() {
  const size_t size = StackBytes();
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, /*fd=*/-1, /*offset=*/0);
  if (memory == MAP_FAILED) return;
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = size;
  if (sigaltstack(&stack, nullptr) != 0) {
    munmap(memory, size);
    return;
  }
  memory_ = memory;
  size_ = size;
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  none.ss_size = size_;  // some systems check it
  sigaltstack(&none, nullptr);
  munmap(memory_, size_);
}

}  // namespace millrace::server
