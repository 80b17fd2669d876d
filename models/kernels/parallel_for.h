#pragma once

#include <cstdint>

namespace millrace::kernels {

// Computes one part of a loop. Parts are independent: they run in any order, at the same time, on
// any thread. It refers to a callable `void(int64_t part)`, which must outlive it.
class LoopBody {
 public:
  // Implicit, so that a call of Run() may pass a lambda.
  template <typename Callable>
  LoopBody(const Callable& callable)  // NOLINT(google-explicit-constructor)
      : object_(&callable), call_([](const void* object, int64_t part) {
          (*static_cast<const Callable*>(object))(part);
        }) {}
  LoopBody(const void* object, void (*call)(const void* object, int64_t part))
      : object_(object), call_(call) {}

  void operator()(int64_t part) const { call_(object_, part); }

  const void* object() const { return object_; }
  auto call() const { return call_; }

 private:
  const void* object_;
  void (*call_)(const void* object, int64_t part);
};

// Runs the loops of a thread with the help of others. The kernels depend on this interface only,
// not on the workers behind it. Used by one thread.
class LoopRunner {
 public:
  virtual ~LoopRunner() = default;

  // Returns how many threads could work on a loop now, the calling one included. Changes at any
  // time. Costs a load.
  virtual int Width() const = 0;
  // Calls body(0) .. body(parts - 1), each once, and returns when all have returned. Throws what
  // one of them threw. The calling thread works on them too.
  virtual void Run(int64_t parts, LoopBody body) = 0;
};

// Makes `runner` that of the calling thread for a scope; null: none. The runner must outlive it.
class ScopedLoopRunner {
 public:
  explicit ScopedLoopRunner(LoopRunner* runner);
  ScopedLoopRunner(const ScopedLoopRunner&) = delete;
  ScopedLoopRunner& operator=(const ScopedLoopRunner&) = delete;
  ~ScopedLoopRunner();

 private:
  LoopRunner* const before_;
};

// Returns the Width of the calling thread's runner: 1 without one, and within a part of a loop.
int ParallelWidth();

// Runs a loop by the calling thread's runner. Without one, and within a part of another loop, the
// calling thread runs the parts in their order. Results must not depend on which thread runs a
// part, nor on which parts it ran before.
void ParallelFor(int64_t parts, LoopBody body);

}  // namespace millrace::kernels
