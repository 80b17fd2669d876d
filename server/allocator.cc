// The settings that the daemon asks of its allocator when it starts. Without jemalloc, nothing
// reads them.
#ifdef MILLRACE_JEMALLOC
#include <unistd.h>

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
// arena for each core, because the default, four, lets each worker fill one of its own. Memory that
// a burst of requests took returns within a second, not ten, so that the next one does not add to
// it.
extern "C" const char* const malloc_conf =
    "background_thread:true,percpu_arena:percpu,dirty_decay_ms:1000";
// The constant above is not in this block, where it would be local to this file and invisible to
// jemalloc.
extern "C" {
void (*malloc_message)(void*, const char*) = Say;
}
#endif
