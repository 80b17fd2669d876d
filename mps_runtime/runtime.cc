#include "mps_runtime/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

#include "mps_runtime/backend.h"
#include "mps_runtime/backend/cpu/cpu_info.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/thread_context.h"

namespace millrace::runtime {
namespace {

// One process, one default stream, one main thread: these rules are libtorch's, so their state is
// the process's too.
struct Process {
  Mutex mu;
  std::thread::id main_thread MILLRACE_GUARDED_BY(mu);  // the default id: no Bootstrap yet
  bool live MILLRACE_GUARDED_BY(mu) = false;
};

Process& TheProcess() {
  static Process process;
  return process;
}

void ClaimProcess() {
  Process& process = TheProcess();
  MutexLock lock(process.mu);
  const std::thread::id self = std::this_thread::get_id();
  if (process.live) throw StreamError("the runtime has been bootstrapped already");
  if (process.main_thread != std::thread::id() && process.main_thread != self) {
    throw StreamError("the runtime must be bootstrapped on the main thread, as the first time");
  }
  process.main_thread = self;
  process.live = true;
}

void ReleaseProcess() noexcept {
  Process& process = TheProcess();
  MutexLock lock(process.mu);
  process.live = false;
}

[[noreturn]] void Refuse(const char* option, int value, const std::string& allowed) {
  throw std::invalid_argument(std::string(option) + " = " + std::to_string(value) +
                              ": allowed are " + allowed);
}

int CheckedPermits(const RuntimeOptions& options, int safe) {
  if (!options.max_in_flight) return safe;
  const int asked = *options.max_in_flight;
  if (asked < 1 || asked > kWorkerSlots) {
    Refuse("max_in_flight", asked, "1.." + std::to_string(kWorkerSlots));
  }
  if (asked > safe && !options.accept_unsafe_concurrency) {
    Refuse("max_in_flight", asked,
           "1.." + std::to_string(safe) + " (more only with accept_unsafe_concurrency)");
  }
  return asked;
}

constexpr int kMaxIntraOpThreads = 1024;

// `permits` of the workers compute at once; the others do host work or wait.
int IntraOpThreads(const RuntimeOptions& options, int cores, int permits) {
  const int asked = options.intra_op_threads;
  if (asked < 0 || asked > kMaxIntraOpThreads) {
    Refuse("intra_op_threads", asked,
           "0 (cores / forwards at once) and 1.." + std::to_string(kMaxIntraOpThreads));
  }
  return asked > 0 ? asked : std::max(1, cores / std::min(options.workers, permits));
}

}  // namespace

// What the options come to on this machine.
struct Runtime::Plan {
  std::unique_ptr<Backend> backend;
  int permits = 1;
  int intra_op_threads = 1;
  Provenance provenance;
};

std::unique_ptr<Runtime> Runtime::Bootstrap(const RuntimeOptions& options) {
  ClaimProcess();
  try {
    if (options.workers < 1 || options.workers > kWorkerSlots) {
      Refuse("workers", options.workers, "1.." + std::to_string(kWorkerSlots));
    }
    const int cores = AvailableCores();
    Plan plan;
    plan.provenance = ReadLibtorchProvenance();
    CheckLibtorch(plan.provenance, options.require_libtorch);
    plan.backend = MakeBackend(options.device);
    plan.permits = CheckedPermits(options, plan.backend->SafeConcurrency());
    plan.intra_op_threads = IntraOpThreads(options, cores, plan.permits);
    plan.provenance.device = ToString(plan.backend->device());
    plan.provenance.device_name = plan.backend->DeviceName();
    plan.provenance.threads = "cores=" + std::to_string(cores) +
                              " workers=" + std::to_string(options.workers) +
                              " intra_op=" + std::to_string(plan.intra_op_threads);
    plan.backend->Bootstrap();
    return std::unique_ptr<Runtime>(new Runtime(options, std::move(plan)));
  } catch (...) {
    ReleaseProcess();
    throw;
  }
}

Runtime::Runtime(const RuntimeOptions& options, Plan plan)
    : backend_(std::move(plan.backend)),
      mode_(options.mode),
      intra_op_threads_(plan.intra_op_threads),
      graph_cache_limits_(options.graph_cache),
      concurrency_source_(options.max_in_flight ? "flag" : "policy"),
      provenance_(std::move(plan.provenance)),
      pool_(backend_->device()),
      limiter_(plan.permits) {}

Runtime::~Runtime() {
  {
    MutexLock lock(mu_);
    if (std::any_of(contexts_.begin(), contexts_.end(), [](auto* context) { return context; })) {
      std::fprintf(stderr, "millrace: runtime destroyed while a thread still has a context\n");
      std::abort();
    }
  }
  ReleaseProcess();
}

std::unique_ptr<WorkerContext> Runtime::EnterMainThread() {
  const Stream stream = pool_.MainStream();
  if (ThreadContext::Current() != nullptr) {
    throw StreamError("the main thread has a context already");
  }
  return std::make_unique<ThreadContext>(*this, stream, std::nullopt);
}

std::unique_ptr<WorkerContext> Runtime::EnterWorker() {
  StreamPool::Lease lease = pool_.LeaseStream();
  const Stream stream = lease.stream();
  return std::make_unique<ThreadContext>(*this, stream, std::move(lease));
}

DeviceType Runtime::device() const { return backend_->device(); }

GraphCacheStats Runtime::graph_cache_stats() const {
  MutexLock lock(mu_);
  GraphCacheStats sum = retired_;
  for (ThreadContext* context : contexts_) {
    if (context == nullptr) continue;
    const GraphCacheStats stats = context->graph_cache().stats();
    sum.entries += stats.entries;
    sum.bytes += stats.bytes;
    sum.hits += stats.hits;
    sum.misses += stats.misses;
    sum.evictions += stats.evictions;
  }
  return sum;
}

void Runtime::Register(ThreadContext* context) {
  MutexLock lock(mu_);
  contexts_[context->stream().slot] = context;
}

void Runtime::Unregister(ThreadContext* context) noexcept {
  MutexLock lock(mu_);
  contexts_[context->stream().slot] = nullptr;
  const GraphCacheStats stats = context->graph_cache().stats();
  retired_.hits += stats.hits;
  retired_.misses += stats.misses;
  retired_.evictions += stats.evictions;
}

ForwardScope::ForwardScope(Runtime& runtime, WorkerContext& context)
    : context_(&ThreadContext::RequireCurrent(context)), exceptions_(std::uncaught_exceptions()) {
  if (&context_->runtime() != &runtime) {
    throw StreamError("the context was made by another runtime");
  }
  wait_ = context_->EnterForward();
}

ForwardScope::~ForwardScope() { context_->LeaveForward(std::uncaught_exceptions() > exceptions_); }

}  // namespace millrace::runtime
