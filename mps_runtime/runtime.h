#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/forward_mode.h"
#include "mps_runtime/graph_cache.h"
#include "mps_runtime/limiter.h"
#include "mps_runtime/provenance.h"
#include "mps_runtime/stream.h"
#include "mps_runtime/stream_pool.h"
#include "mps_runtime/worker_context.h"

namespace millrace::runtime {

class Backend;
class ThreadContext;

struct RuntimeOptions {
  std::optional<DeviceType> device;  // none: the best that this build and machine have
  int workers = 1;                   // threads that will call EnterWorker, 1..31
  ForwardMode mode = ForwardMode::kParallel;
  std::optional<int> max_in_flight;        // forwards at once; none: what the backend holds safe
  bool accept_unsafe_concurrency = false;  // lets max_in_flight exceed what is held safe
  int intra_op_threads = 0;        // threads inside one CPU operator; 0: cores / forwards at once
  GraphCache::Limits graph_cache;  // for each worker
  std::string
      require_libtorch;  // a version or a prefix of one; empty: any that matches the headers
};

// The device side of the process: which backend, who may use which stream, and how many forwards
// run at once. One lives at a time, made on the main thread before any other thread touches
// libtorch, and destroyed there after all contexts. Thread-safe unless a method says otherwise.
class Runtime {
 public:
  // The first caller's thread is the main thread for the rest of the process. Checks options and
  // the loaded libtorch, then makes the first use of the device. Throws std::invalid_argument
  // naming the option, its value and what is allowed; std::runtime_error for the wrong libtorch;
  // StreamError while another Runtime lives or on another thread than the first time.
  static std::unique_ptr<Runtime> Bootstrap(const RuntimeOptions& options);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  // Slot 0, for loading and warm-up. Throws StreamError on another thread than the main one, or
  // when it already has a context.
  std::unique_ptr<WorkerContext> EnterMainThread();
  // Leases a slot for the calling thread, names the thread "millrace-w<slot>" and sets its intra-op
  // budget. Destroy the context on this thread (elsewhere is a checked, fatal error). Throws
  // StreamPoolExhausted, or StreamError on the main thread or a second time.
  std::unique_ptr<WorkerContext> EnterWorker();

  DeviceType device() const;
  ForwardMode mode() const { return mode_; }
  int intra_op_threads() const { return intra_op_threads_; }
  StreamPool& stream_pool() { return pool_; }
  Limiter& limiter() { return limiter_; }
  const Provenance& provenance() const { return provenance_; }
  // Where the limiter's size comes from: "policy" (the backend's) or "flag" (max_in_flight).
  std::string_view safe_concurrency_source() const { return concurrency_source_; }
  // Sums over all contexts; hits, misses and evictions include those of contexts that are gone.
  GraphCacheStats graph_cache_stats() const;

 private:
  friend class ThreadContext;

  struct Plan;
  Runtime(const RuntimeOptions& options, Plan plan);

  void Register(ThreadContext* context) MILLRACE_EXCLUDES(mu_);
  void Unregister(ThreadContext* context) noexcept MILLRACE_EXCLUDES(mu_);

  const std::unique_ptr<Backend> backend_;
  const ForwardMode mode_;
  const int intra_op_threads_;
  const GraphCache::Limits graph_cache_limits_;
  const std::string_view concurrency_source_;
  const Provenance provenance_;
  StreamPool pool_;
  Limiter limiter_;
  Mutex forward_mu_;  // serial mode: held for a forward; encode-lock mode: held while work is
                      // submitted

  mutable Mutex mu_;
  std::array<ThreadContext*, kStreamSlots> contexts_ MILLRACE_GUARDED_BY(mu_) = {};  // by slot
  GraphCacheStats retired_ MILLRACE_GUARDED_BY(mu_);  // counters of contexts that are gone
};

// Held around one forward on a thread with a context: takes a DevicePermit and what the mode
// demands, and enters libtorch's inference mode. Construct and destroy it on the context's thread;
// scopes do not nest. Throws StreamError when thread, stream and context do not belong together.
// When it is left by an exception it waits for the stream first, so that no work is in flight
// without a permit. Cost without contention: see mps_runtime_bench.
class ForwardScope {
 public:
  ForwardScope(Runtime& runtime, WorkerContext& context);
  ForwardScope(const ForwardScope&) = delete;
  ForwardScope& operator=(const ForwardScope&) = delete;
  ~ForwardScope();

  // How long the constructor waited for the permit and the mode's lock; zero when both were free.
  Duration wait() const { return wait_; }

 private:
  ThreadContext* context_;
  Duration wait_;
  int exceptions_;  // in flight at construction
};

}  // namespace millrace::runtime
