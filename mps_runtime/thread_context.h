#pragma once

#include <memory>
#include <optional>
#include <thread>

#include "mps_runtime/platform.h"
#include "mps_runtime/runtime.h"

namespace millrace::runtime {

// The only implementation of WorkerContext, internal to mps_runtime. Not thread-safe: every method
// runs on the thread that made it.
class ThreadContext final : public WorkerContext {
 public:
  // The main thread's context has no lease.
  ThreadContext(Runtime& runtime, Stream stream, std::optional<StreamPool::Lease> lease);
  ThreadContext(const ThreadContext&) = delete;
  ThreadContext& operator=(const ThreadContext&) = delete;
  ~ThreadContext() override;

  // Returns the calling thread's context, or null.
  static ThreadContext* Current();
  // Throws StreamError unless the context is the calling thread's.
  static ThreadContext& RequireCurrent(const WorkerContext& context);

  // Returns true if the calling thread is within a ForwardScope.
  static bool InForward();
  // Makes the context live as long as the calling thread, unless it is dropped before.
  static ThreadContext& Keep(std::unique_ptr<WorkerContext> context);
  static void DropKept() noexcept;
  // Throws StreamError when the thread is ending and can no longer keep a context.
  static void RequireMayKeep();

  Stream stream() const override { return stream_; }
  GraphCache& graph_cache() override { return graph_cache_; }
  void Synchronize() override;
  std::unique_ptr<DeviceGraph> Capture(const std::function<void()>& submit) override;
  bool AdmitShape(const GraphKey& key, const std::function<std::string()>& shapes) override;

  const Runtime& runtime() const { return runtime_; }
  // Returns the time that it waited. The locks that it takes depend on the mode, which the static
  // analysis cannot follow.
  Duration EnterForward() MILLRACE_NO_THREAD_SAFETY_ANALYSIS;
  // `failed`: the forward threw, so its work may still be on the device.
  void LeaveForward(bool failed) noexcept MILLRACE_NO_THREAD_SAFETY_ANALYSIS;

 private:
  void WaitForDevice() MILLRACE_NO_THREAD_SAFETY_ANALYSIS;

  Runtime& runtime_;
  const Stream stream_;
  const std::thread::id owner_ = std::this_thread::get_id();
  std::optional<StreamPool::Lease> lease_;
  GraphCache graph_cache_;
  const std::unique_ptr<PlatformThread> platform_thread_;  // null: the platform keeps none
  bool kept_ = false;

  // Set during a forward.
  std::optional<DevicePermit> permit_;
  void* backend_scope_ = nullptr;
};

}  // namespace millrace::runtime
