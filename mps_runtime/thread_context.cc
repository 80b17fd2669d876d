#include "mps_runtime/thread_context.h"

#include <pthread.h>

#include <string>
#include <utility>

#include "mps_runtime/backend.h"
#include "mps_runtime/base/check.h"
#include "mps_runtime/base/log_sink.h"
#include "mps_runtime/errors.h"

namespace millrace::runtime {
namespace {

// libtorch keeps a device's current stream in a thread-local variable; this is our counterpart.
thread_local ThreadContext* current_context = nullptr;

// The context that Keep was given. The flag outlives it: a thread-local variable that is destroyed
// later may ask for a context.
thread_local bool thread_ends = false;
struct Kept {
  ~Kept() {
    thread_ends = true;
    context.reset();
  }
  std::unique_ptr<WorkerContext> context;
};

// First called when there is a context to keep: thread-local variables are destroyed in the reverse
// order of their construction, and the context needs those that the backend and libtorch
// constructed.
Kept& KeptContext() {
  thread_local Kept kept;
  return kept;
}

void NameThisThread(const std::string& name) {
#ifdef __APPLE__
  pthread_setname_np(name.c_str());
#else
  pthread_setname_np(pthread_self(), name.c_str());
#endif
}

// Takes the lock. Reads the clock only when it has to wait.
Duration LockTimed(Mutex& mu) MILLRACE_NO_THREAD_SAFETY_ANALYSIS {
  if (mu.TryLock()) return {};
  const TimePoint begin = Clock::Real().Now();
  mu.Lock();
  return Clock::Real().Now() - begin;
}

}  // namespace

ThreadContext::ThreadContext(Runtime& runtime, Stream stream,
                             std::optional<StreamPool::Lease> lease)
    : runtime_(runtime),
      stream_(stream),
      lease_(std::move(lease)),
      graph_cache_(runtime.graph_cache_limits_),
      platform_thread_(runtime.platform_.EnterThread()) {
  runtime_.backend_->BindThread(stream_, runtime_.intra_op_threads_);
  if (lease_) NameThisThread("millrace-w" + std::to_string(stream_.slot));
  runtime_.Register(this);
  current_context = this;
}

ThreadContext::~ThreadContext() {
  // Tearing down a stream under a thread that may be using it would be worse than ending the
  // process here.
  MILLRACE_CHECK(
      owner_ == std::this_thread::get_id(),
      "the context of stream " + std::to_string(stream_.slot) + " was destroyed on another thread");
  try {
    runtime_.backend_->Synchronize(stream_);
  } catch (const std::exception& error) {
    SendToLog(LogSeverity::kError, "stream " + std::to_string(stream_.slot) +
                                       " failed while its thread ended: " + error.what());
  }
  current_context = nullptr;
  runtime_.Unregister(this);
  if (lease_) runtime_.shapes_.Forget(stream_.slot);
  graph_cache_.Clear();
  runtime_.backend_->UnbindThread(stream_);
}

ThreadContext* ThreadContext::Current() { return current_context; }

ThreadContext& ThreadContext::RequireCurrent(const WorkerContext& context) {
  if (current_context != &context) {
    throw StreamError("the context of stream " + std::to_string(context.stream().slot) +
                      " belongs to another thread");
  }
  return *current_context;
}

bool ThreadContext::InForward() { return current_context != nullptr && current_context->permit_; }

ThreadContext& ThreadContext::Keep(std::unique_ptr<WorkerContext> context) {
  KeptContext().context = std::move(context);
  current_context->kept_ = true;
  return *current_context;
}

void ThreadContext::DropKept() noexcept {
  if (current_context != nullptr && current_context->kept_) KeptContext().context.reset();
}

void ThreadContext::RequireMayKeep() {
  if (thread_ends) throw StreamError("the thread is ending: it can have no context any more");
}

void ThreadContext::Synchronize() {
  RequireCurrent(*this);
  WaitForDevice();
}

std::unique_ptr<DeviceGraph> ThreadContext::Capture(const std::function<void()>& submit) {
  RequireCurrent(*this);
  if (!permit_) throw StreamError("work is recorded within a forward");
  return runtime_.backend_->Capture(stream_, submit);
}

bool ThreadContext::AdmitShape(const GraphKey& key, const std::function<std::string()>& shapes) {
  RequireCurrent(*this);
  return runtime_.shapes_.Admit(key, stream_.slot, shapes);
}

void ThreadContext::WaitForDevice() {
  if (!permit_ || runtime_.mode_ != ForwardMode::kEncodeLock) {
    runtime_.backend_->Synchronize(stream_);
    return;
  }
  // Another thread may submit work while this one only waits. This thread submits again afterwards,
  // so it takes the lock again.
  struct Gap {
    explicit Gap(Mutex& mutex) MILLRACE_NO_THREAD_SAFETY_ANALYSIS : mu(mutex) { mu.Unlock(); }
    ~Gap() MILLRACE_NO_THREAD_SAFETY_ANALYSIS { mu.Lock(); }
    Mutex& mu;
  };
  const Gap gap(runtime_.forward_mu_);
  runtime_.backend_->Synchronize(stream_);
}

Duration ThreadContext::EnterForward() {
  if (permit_) throw StreamError("a forward is in progress on this thread already");
  if (!runtime_.backend_->IsBound(stream_)) {
    throw StreamError("stream " + std::to_string(stream_.slot) +
                      " is no longer the current stream of its thread");
  }
  Duration wait{};
  // In serial mode the lock comes first, so that a permit in use is a forward that runs.
  if (runtime_.mode_ == ForwardMode::kSerial) wait += LockTimed(runtime_.forward_mu_);
  permit_ = runtime_.limiter_.TryAcquire();
  if (!permit_) {
    const TimePoint begin = Clock::Real().Now();
    permit_.emplace(runtime_.limiter_.Acquire());
    wait += Clock::Real().Now() - begin;
  }
  if (runtime_.mode_ == ForwardMode::kEncodeLock) wait += LockTimed(runtime_.forward_mu_);
  backend_scope_ = runtime_.backend_->EnterForward();
  if (platform_thread_ != nullptr) platform_thread_->EnterForward();
  return wait;
}

void ThreadContext::LeaveForward(bool failed) noexcept {
  if (failed) {
    try {
      WaitForDevice();
    } catch (...) {
      // The exception that is already in flight describes the failure.
    }
    if (runtime_.backend_->ReleaseMemoryIfShort()) graph_cache_.Clear();
  }
  if (platform_thread_ != nullptr) platform_thread_->LeaveForward();
  runtime_.backend_->LeaveForward(backend_scope_);
  if (runtime_.mode_ == ForwardMode::kEncodeLock) runtime_.forward_mu_.Unlock();
  permit_.reset();
  if (runtime_.mode_ == ForwardMode::kSerial) runtime_.forward_mu_.Unlock();
}

}  // namespace millrace::runtime
