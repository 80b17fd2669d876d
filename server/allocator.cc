// What the daemon asks of its allocator when it starts. Without jemalloc nobody reads it.
#ifdef MILLRACE_JEMALLOC
// Returns unused memory to the system from a thread of its own, not within a request.
extern "C" const char* const malloc_conf = "background_thread:true";
#endif
