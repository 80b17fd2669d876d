// What the daemon asks of its allocator when it starts. Without jemalloc nobody reads it.
#ifdef MILLRACE_JEMALLOC
#include <unistd.h>

#include <string_view>

namespace {

// On standard error as jemalloc does it, but for what is no news to an operator: a process that is
// kept on some of the cores does without arenas by core. Runs before main; must not allocate.
void Say(void*, const char* text) {
  const std::string_view message(text);
  if (message.find("Number of CPUs detected is not deterministic") != message.npos) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
}

}  // namespace

// Returns unused memory to the system from a thread of its own, not within a request; and one arena
// a core, since the default, four, lets each worker fill one of its own.
extern "C" const char* const malloc_conf = "background_thread:true,percpu_arena:percpu";
// Not in a block with it: there, a constant would be this file's own and jemalloc not see it.
extern "C" {
void (*malloc_message)(void*, const char*) = Say;
}
#endif
