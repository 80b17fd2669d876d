#include "mps_runtime/runtime.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "mps_runtime/backend.h"
#include "mps_runtime/base/check.h"
#include "mps_runtime/base/cpu_info.h"
#include "mps_runtime/device_traits.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/platform.h"
#include "mps_runtime/thread_context.h"

namespace millrace::runtime {
namespace {

// libtorch allows one default stream and one main thread in a process, so this state belongs to the
// process too.
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

// The number of forwards that may be in flight, and the source that set it.
struct Permits {
  int count = 1;
  std::string_view source;
};

Permits HeldSafe(const RuntimeOptions& options, const DeviceFacts& facts) {
  const std::optional<int> measured =
      options.measured_concurrency ? options.measured_concurrency(facts) : std::nullopt;
  if (!measured) return {facts.policy_concurrency, "policy"};
  if (*measured < 1 || *measured > kWorkerSlots) {
    Refuse("measured_concurrency", *measured, "1.." + std::to_string(kWorkerSlots));
  }
  return {std::min(*measured, facts.useful_concurrency), "profile"};
}

Permits CheckedPermits(const RuntimeOptions& options, Permits safe) {
  if (!options.max_in_flight) return safe;
  const int asked = *options.max_in_flight;
  if (asked < 1 || asked > kWorkerSlots) {
    Refuse("max_in_flight", asked, "1.." + std::to_string(kWorkerSlots));
  }
  if (asked > safe.count && !options.accept_unsafe_concurrency) {
    Refuse("max_in_flight", asked,
           "1.." + std::to_string(safe.count) + " by the " + std::string(safe.source) +
               " (more only with accept_unsafe_concurrency)");
  }
  return {asked, "flag"};
}

constexpr int kMaxIntraOpThreads = 1024;

// Returns the intra-op threads of a worker, when `at_once` of the workers compute on the device and
// the others do host work or wait. On an accelerator the host's operators only arrange data, for
// which several threads, which spin between operators, gain nothing.
int IntraOpThreads(const RuntimeOptions& options, DeviceType device, int cores, int at_once) {
  const int asked = options.intra_op_threads;
  if (asked < 0 || asked > kMaxIntraOpThreads) {
    Refuse("intra_op_threads", asked,
           "0 (cores / forwards at once, on an accelerator 1) and 1.." +
               std::to_string(kMaxIntraOpThreads));
  }
  if (asked > 0) return asked;
  return TraitsOf(device).computes_on_host ? std::max(1, cores / at_once) : 1;
}

DeviceFacts FactsOf(const RuntimeOptions& options, const Platform& platform,
                    std::unique_ptr<Backend>& backend) {
  DeviceFacts facts;
  facts.provenance = platform.Identify(options.require_libtorch);
  backend = platform.MakeBackend(options.device);
  facts.provenance.device = ToString(backend->device());
  facts.provenance.device_name = backend->DeviceName();
  facts.policy_concurrency = backend->SafeConcurrency();
  facts.useful_concurrency = std::min(backend->UsefulConcurrency(), backend->MaxWorkers());
  facts.default_mode = backend->DefaultMode();
  facts.mode = options.mode.value_or(facts.default_mode);
  return facts;
}

}  // namespace

// The options as resolved for this machine.
struct Runtime::Plan {
  std::unique_ptr<Backend> backend;
  int workers = 1;
  std::string why_fewer_workers;
  int permits = 1;
  std::string_view permits_source;
  int intra_op_threads = 1;
  Provenance provenance;
};

DeviceFacts Runtime::Describe(std::optional<DeviceType> device, const std::string& require_libtorch,
                              const Platform& platform) {
  RuntimeOptions options;
  options.device = device;
  options.require_libtorch = require_libtorch;
  std::unique_ptr<Backend> backend;
  return FactsOf(options, platform, backend);
}

std::unique_ptr<Runtime> Runtime::Bootstrap(const RuntimeOptions& options,
                                            const Platform& platform) {
  ClaimProcess();
  try {
    if (options.workers < 0 || options.workers > kWorkerSlots) {
      Refuse("workers", options.workers, "0.." + std::to_string(kWorkerSlots));
    }
    if (options.max_compiled_shapes == 0) Refuse("max_compiled_shapes", 0, "1 and more");
    const int cores = AvailableCores();
    Plan plan;
    DeviceFacts facts = FactsOf(options, platform, plan.backend);
    const int wanted = options.workers != 0
                           ? options.workers
                           : std::min({cores, plan.backend->UsefulWorkers(), kWorkerSlots});
    plan.workers = std::min(wanted, plan.backend->MaxWorkers());
    if (plan.workers < wanted) plan.why_fewer_workers = plan.backend->WhyFewWorkers();
    const Permits permits = CheckedPermits(options, HeldSafe(options, facts));
    plan.permits = permits.count;
    plan.permits_source = permits.source;
    plan.intra_op_threads = IntraOpThreads(options, plan.backend->device(), cores,
                                           std::min(plan.workers, plan.permits));
    plan.provenance = std::move(facts.provenance);
    plan.provenance.threads = "cores=" + std::to_string(cores) +
                              " workers=" + std::to_string(plan.workers) +
                              " intra_op=" + std::to_string(plan.intra_op_threads);
    plan.backend->Bootstrap();
    return std::unique_ptr<Runtime>(new Runtime(options, platform, std::move(plan)));
  } catch (...) {
    ReleaseProcess();
    throw;
  }
}

Runtime::Runtime(const RuntimeOptions& options, const Platform& platform, Plan plan)
    : platform_(platform),
      backend_(std::move(plan.backend)),
      mode_(options.mode.value_or(backend_->DefaultMode())),
      workers_(plan.workers),
      why_fewer_workers_(std::move(plan.why_fewer_workers)),
      intra_op_threads_(plan.intra_op_threads),
      graph_cache_limits_(options.graph_cache),
      concurrency_source_(plan.permits_source),
      provenance_(std::move(plan.provenance)),
      pool_(backend_->device(), backend_->MaxWorkers()),
      limiter_(plan.permits),
      shapes_({.policy = options.graph_cache_policy,
               .new_shape = options.new_shape,
               .max_compiled = backend_->CompilesShapes() ? options.max_compiled_shapes : 0,
               .by_thread = backend_->CompilesShapesByThread()}) {}

Runtime::~Runtime() {
  if (!ThreadContext::InForward()) ThreadContext::DropKept();
  {
    MutexLock lock(mu_);
    for (int slot = 0; slot < kStreamSlots; ++slot) {
      MILLRACE_CHECK(contexts_[slot] == nullptr,
                     "runtime destroyed while a thread still has a context: that of stream " +
                         std::to_string(slot));
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

WorkerContext& Runtime::ForThisThread() {
  if (ThreadContext* const current = ThreadContext::Current()) return *current;
  ThreadContext::RequireMayKeep();
  return ThreadContext::Keep(pool_.OnMainThread() ? EnterMainThread() : EnterWorker());
}

void Runtime::LeaveThisThread() {
  if (ThreadContext::InForward()) throw StreamError("a forward is in progress on this thread");
  ThreadContext::DropKept();
}

DeviceType Runtime::device() const { return backend_->device(); }
int64_t Runtime::device_bytes() const { return backend_->AllocatedBytes(); }

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

std::vector<ThreadGraphCache> Runtime::thread_graph_caches() const {
  std::vector<ThreadGraphCache> caches;
  if (!shapes_.by_thread()) return caches;
  const auto compiled = shapes_.CompiledBySlot();
  MutexLock lock(mu_);
  for (int slot = 0; slot < kStreamSlots; ++slot) {
    const auto index = static_cast<size_t>(slot);
    if (contexts_[index] == nullptr) continue;
    caches.push_back({slot, contexts_[index]->graph_cache().stats(), compiled[index]});
  }
  return caches;
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
