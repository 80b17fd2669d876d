#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/forward_mode.h"
#include "mps_runtime/graph_cache.h"
#include "mps_runtime/limiter.h"
#include "mps_runtime/provenance.h"
#include "mps_runtime/shape_registry.h"
#include "mps_runtime/stream.h"
#include "mps_runtime/stream_pool.h"
#include "mps_runtime/worker_context.h"

namespace millrace::runtime {

class Backend;
class Platform;
class ThreadContext;

// The properties of a device that are known before it is used.
struct DeviceFacts {
  Provenance provenance;
  int policy_concurrency = 1;  // concurrent forwards that are safe without a measurement
  int useful_concurrency = 1;  // concurrent forwards beyond which nothing is gained
  ForwardMode mode = ForwardMode::kParallel;          // the mode of this runtime
  ForwardMode default_mode = ForwardMode::kParallel;  // the backend's, in which measurements run
};

// The graph cache of one thread, and what libtorch compiled for that thread alone.
struct ThreadGraphCache {
  int slot = kDefaultSlot;  // the slot of its stream
  GraphCacheStats stats;
  size_t compiled_shapes = 0;
};

struct RuntimeOptions {
  std::optional<DeviceType> device;        // nullopt: the best of this build and machine
  int workers = 1;                         // threads that call EnterWorker, 1..31; 0: the device's
  std::optional<ForwardMode> mode;         // nullopt: the backend's
  std::optional<int> max_in_flight;        // forwards at once; none: as many as are held safe
  bool accept_unsafe_concurrency = false;  // lets max_in_flight exceed what is held safe
  // Threads inside one CPU operator; 0: cores / forwards at once, on an accelerator 1.
  int intra_op_threads = 0;
  GraphCache::Limits graph_cache;  // for each worker
  GraphCachePolicy graph_cache_policy = GraphCachePolicy::kGrow;
  NewShape new_shape = NewShape::kEager;  // for frozen caches
  // Distinct shapes, >= 1, where the device compiles each and keeps it: in the process, or in each
  // thread where each compiles on its own.
  size_t max_compiled_shapes = 256;
  std::string
      require_libtorch;  // a version or a prefix of one; empty: any that matches the headers
  // Called once, before the device is used: returns how many concurrent forwards were measured to
  // be safe on it. The backend's policy applies when it returns nothing or is not set.
  std::function<std::optional<int>(const DeviceFacts&)> measured_concurrency;
};

// The device side of the process: the backend, which thread may use which stream, and how many
// forwards run at once. One lives at a time. It is made on the main thread before any other thread
// touches libtorch, and destroyed there after all contexts that were entered. Thread-safe unless a
// method says otherwise.
class Runtime {
 public:
  // Returns the properties of the device that Bootstrap would choose, without using it. Throws as
  // Bootstrap does for the device and for libtorch.
  static DeviceFacts Describe(std::optional<DeviceType> device,
                              const std::string& require_libtorch = "");
  static DeviceFacts Describe(std::optional<DeviceType> device, const std::string& require_libtorch,
                              const Platform& platform);
  // The first caller's thread is the main thread for the rest of the process. Checks options and
  // the loaded libtorch, then makes the first use of the device. Throws std::invalid_argument
  // naming the option, its value and what is allowed; std::runtime_error for the wrong libtorch;
  // StreamError while another Runtime lives or on another thread than the first time.
  //
  // platform: computes for the runtime and must outlive it; without it, libtorch does. Programs
  // that name it need not link libtorch.
  static std::unique_ptr<Runtime> Bootstrap(const RuntimeOptions& options);
  static std::unique_ptr<Runtime> Bootstrap(const RuntimeOptions& options,
                                            const Platform& platform);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  // Makes the context of slot 0, for loading and warm-up. Throws StreamError on another thread than
  // the main one, or when it already has a context.
  std::unique_ptr<WorkerContext> EnterMainThread();
  // Leases a slot for the calling thread, names the thread "millrace-w<slot>" and sets its intra-op
  // budget. Destroy the context on this thread; destroying it elsewhere is a checked, fatal error.
  // Throws StreamPoolExhausted; throws StreamError on the main thread or when the thread already
  // has a context.
  std::unique_ptr<WorkerContext> EnterWorker();

  // Returns the calling thread's context. A thread without one gets it as from EnterMainThread or
  // EnterWorker, with their errors, and keeps it until the thread ends, in whatever way, or calls
  // LeaveThisThread; the main thread keeps it until this runtime is destroyed. If another thread
  // still has a context then, the process ends with a message, as with EnterWorker: join the thread
  // first, or let it leave. Also throws StreamError while the thread's thread-local variables are
  // being destroyed. Costs one access to a thread-local variable, except for the first time. A
  // thread whose graphs end with it (see ThreadGraphCache) must Synchronize before it ends: they
  // are destroyed before this context waits.
  WorkerContext& ForThisThread();
  // Releases the context that ForThisThread made for the calling thread, if any. Throws StreamError
  // during a forward.
  void LeaveThisThread();

  DeviceType device() const;
  ForwardMode mode() const { return mode_; }
  int intra_op_threads() const { return intra_op_threads_; }
  // Returns the number of threads that may call EnterWorker: as many as requested, or fewer where
  // the device has fewer streams; why_fewer_workers() then gives the reason in words.
  int workers() const { return workers_; }
  const std::string& why_fewer_workers() const { return why_fewer_workers_; }
  // Returns the memory that the device's driver holds for this process; 0 where it has none of its
  // own.
  int64_t device_bytes() const;
  StreamPool& stream_pool() { return pool_; }
  Limiter& limiter() { return limiter_; }
  const Provenance& provenance() const { return provenance_; }
  // Returns the source of the limiter's size: "policy" (the backend's), "profile"
  // (measured_concurrency) or "flag" (max_in_flight).
  std::string_view safe_concurrency_source() const { return concurrency_source_; }
  // Returns sums over all contexts; hits, misses and evictions include those of destroyed contexts.
  GraphCacheStats graph_cache_stats() const;
  // Returns the caches of the threads that have a context, by slot, where each compiles shapes on
  // its own; elsewhere nothing.
  std::vector<ThreadGraphCache> thread_graph_caches() const;

  // Declares that every context has been warmed up. With GraphCachePolicy::kFrozen the workers'
  // caches take no more new shapes, except those that the main thread runs from then on: the
  // warm-up of a model that is loaded later. Any thread.
  void FinishWarmUp() { shapes_.Freeze(); }
  ShapeStats shape_stats() const { return shapes_.stats(); }
  // Returns the most shapes that the process, or each thread, may compile; 0 where the device
  // compiles none.
  size_t max_compiled_shapes() const { return shapes_.max_compiled(); }
  // Returns true if what one thread has compiled serves the others too.
  bool shares_compiled_shapes() const {
    return shapes_.max_compiled() != 0 && !shapes_.by_thread();
  }

 private:
  friend class ThreadContext;

  struct Plan;
  Runtime(const RuntimeOptions& options, const Platform& platform, Plan plan);

  void Register(ThreadContext* context) MILLRACE_EXCLUDES(mu_);
  void Unregister(ThreadContext* context) noexcept MILLRACE_EXCLUDES(mu_);

  const Platform& platform_;
  const std::unique_ptr<Backend> backend_;
  const ForwardMode mode_;
  const int workers_;
  const std::string why_fewer_workers_;
  const int intra_op_threads_;
  const GraphCache::Limits graph_cache_limits_;
  const std::string_view concurrency_source_;
  const Provenance provenance_;
  StreamPool pool_;
  Limiter limiter_;
  ShapeRegistry shapes_;
  Mutex forward_mu_;  // serial mode: held for a forward; encode-lock mode: held while work is
                      // submitted

  mutable Mutex mu_;
  std::array<ThreadContext*, kStreamSlots> contexts_ MILLRACE_GUARDED_BY(mu_) = {};  // by slot
  GraphCacheStats retired_ MILLRACE_GUARDED_BY(mu_);  // counters of contexts that are gone
};

// Held around one forward on a thread with a context: takes a DevicePermit and the lock that the
// mode demands, and, where libtorch computes, enters its inference mode. Construct and destroy it
// on the context's thread; scopes do not nest. Throws StreamError when thread, stream and context
// do not belong together. When an exception leaves it, it waits for the stream first, so that no
// work is in flight without a permit. For its cost without contention see mps_runtime_bench.
class ForwardScope {
 public:
  ForwardScope(Runtime& runtime, WorkerContext& context);
  ForwardScope(const ForwardScope&) = delete;
  ForwardScope& operator=(const ForwardScope&) = delete;
  ~ForwardScope();

  // Returns the time that the constructor waited for the permit and the mode's lock; zero when both
  // were free.
  Duration wait() const { return wait_; }

 private:
  ThreadContext* context_;
  Duration wait_;
  int exceptions_;  // exceptions in flight at construction
};

}  // namespace millrace::runtime
