// The settings that the daemon asks of its allocator when it starts. Without jemalloc, nothing
// reads them.
#include "server/allocator.h"

#ifdef MILLRACE_JEMALLOC
#include <jemalloc/jemalloc.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace {

// Writes jemalloc's messages to standard error, as jemalloc does, except for one that is no news to
// an operator: a process that is restricted to some of the cores does without arenas by core. Runs
// before main; must not allocate.
void Say(void*, const char* text) {
  const std::string_view message(text);
  if (message.find("Number of CPUs detected is not deterministic") != message.npos) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
}

}  // namespace

// Unused memory returns to the system on a thread of its own, not within a request. There is one
// arena for each core, because the default, four, lets each worker fill one of its own. Freed
// memory is kept for a second, unless KeepFreedMemoryFor says otherwise: what short-lived calls
// have freed adds up to tens of megabytes in the default, ten seconds.
const char* malloc_conf = "background_thread:true,percpu_arena:percpu,dirty_decay_ms:1000";
void (*malloc_message)(void*, const char*) = Say;

namespace millrace::server {

void KeepFreedMemoryFor(std::chrono::milliseconds time) {
  ssize_t milliseconds = static_cast<ssize_t>(time.count());
  mallctl("arenas.dirty_decay_ms", nullptr, nullptr, &milliseconds, sizeof milliseconds);
  unsigned arenas = 0;
  size_t size = sizeof arenas;
  if (mallctl("arenas.narenas", &arenas, &size, nullptr, 0) != 0) return;
  for (unsigned arena = 0; arena < arenas; ++arena) {
    const std::string name = "arena." + std::to_string(arena) + ".dirty_decay_ms";
    mallctl(name.c_str(), nullptr, nullptr, &milliseconds, sizeof milliseconds);
  }
}

}  // namespace millrace::server
#else
namespace millrace::server {
void KeepFreedMemoryFor(std::chrono::milliseconds /*time*/) {}
}  // namespace millrace::server
#endif
