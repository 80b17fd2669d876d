#pragma once

// Clang's thread-safety attributes under the names of its documentation
// (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html). They are empty under other compilers.

#if defined(__clang__)
#define MILLRACE_TSA(x) __attribute__((x))
#else
#define MILLRACE_TSA(x)
#endif

#define MILLRACE_CAPABILITY(x) MILLRACE_TSA(capability(x))
#define MILLRACE_SCOPED_CAPABILITY MILLRACE_TSA(scoped_lockable)
#define MILLRACE_GUARDED_BY(x) MILLRACE_TSA(guarded_by(x))
#define MILLRACE_PT_GUARDED_BY(x) MILLRACE_TSA(pt_guarded_by(x))
#define MILLRACE_REQUIRES(...) MILLRACE_TSA(requires_capability(__VA_ARGS__))
#define MILLRACE_ACQUIRE(...) MILLRACE_TSA(acquire_capability(__VA_ARGS__))
#define MILLRACE_TRY_ACQUIRE(...) MILLRACE_TSA(try_acquire_capability(__VA_ARGS__))
#define MILLRACE_RELEASE(...) MILLRACE_TSA(release_capability(__VA_ARGS__))
#define MILLRACE_EXCLUDES(...) MILLRACE_TSA(locks_excluded(__VA_ARGS__))
#define MILLRACE_NO_THREAD_SAFETY_ANALYSIS MILLRACE_TSA(no_thread_safety_analysis)
