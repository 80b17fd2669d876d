#pragma once

// Clang's thread-safety attributes under the names of its documentation
// (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html); nothing under other compilers.

#if defined(__clang__)
#define MILLRACE_TSA(x) __attribute__((x))
#else
#define MILLRACE_TSA(x)
#endif

#define CAPABILITY(x) MILLRACE_TSA(capability(x))
#define SCOPED_CAPABILITY MILLRACE_TSA(scoped_lockable)
#define GUARDED_BY(x) MILLRACE_TSA(guarded_by(x))
#define PT_GUARDED_BY(x) MILLRACE_TSA(pt_guarded_by(x))
#define REQUIRES(...) MILLRACE_TSA(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) MILLRACE_TSA(acquire_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) MILLRACE_TSA(try_acquire_capability(__VA_ARGS__))
#define RELEASE(...) MILLRACE_TSA(release_capability(__VA_ARGS__))
#define EXCLUDES(...) MILLRACE_TSA(locks_excluded(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS MILLRACE_TSA(no_thread_safety_analysis)
