// What the daemon asks of its allocator when it starts. Without jemalloc nobody reads it.
#ifdef MILLRACE_JEMALLOC
// Returns unused memory to the system from a thread of its own, not within a request; and one arena
// a core, since the default, four, lets each worker fill one of its own.
extern "C" const char* const malloc_conf = "background_thread:true,percpu_arena:percpu";
#endif
