// Threads of libraries overflow their stacks too, and each thread needs a signal stack of its own.
// This file therefore defines the function by which all threads start: the dynamic linker prefers
// the program's symbols to a library's, and this one calls the next in its order.

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <new>

#include "server/control/signal_stack.h"

namespace {

struct ThreadStart {
  void* (*function)(void*);
  void* argument;
};

void* RunWithSignalStack(void* argument) {
  auto* const allocated = static_cast<ThreadStart*>(argument);
  const ThreadStart start = *allocated;
  delete allocated;
  const millrace::server::SignalStack stack;
  return start.function(start.argument);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*function)(void*), void* argument) noexcept {
  static const auto next =
      reinterpret_cast<decltype(&::pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  auto* const start = new (std::nothrow) ThreadStart{function, argument};
  if (start == nullptr) return EAGAIN;
  const int error = next(thread, attributes, RunWithSignalStack, start);
  if (error != 0) delete start;
  return error;
}
