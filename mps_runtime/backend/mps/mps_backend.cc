#include "mps_runtime/backend/mps/mps_backend.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <ATen/mps/MPSStream.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <dispatch/dispatch.h>
#include <dlfcn.h>

#include <exception>
#include <latch>
#include <memory>
#include <thread>

#include "mps_runtime/base/cpu_info.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/provenance.h"
#include "mps_runtime/queue_hold.h"
#include "mps_runtime/stream_symbols.h"

// Objective-C's autorelease pools from C++:
// https://clang.llvm.org/docs/AutomaticReferenceCounting.html
extern "C" {
void* objc_autoreleasePoolPush(void);
void objc_autoreleasePoolPop(void* pool);
}

namespace millrace::runtime {
namespace {

thread_local int previous_threads = 1;

template <typename Function>
Function Find(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol));
}

[[noreturn]] void Rethrow(const c10::Error& error) {
  throw DeviceError(error.what_without_backtrace());
}

// The argument of a block on the serial queue, and its result: an exception must not leave the
// block.
struct Wait {
  at::mps::MPSStream* stream;
  std::exception_ptr failure;
};

// The argument of a block that holds a queue.
struct Hold {
  at::mps::MPSStream* stream;
  std::chrono::milliseconds time;
  std::latch begun{1};
};

void HoldQueue(void* argument) {
  auto* const hold = static_cast<Hold*>(argument);
  at::mps::MPSStream* const stream = hold->stream;
  const auto time = hold->time;
  hold->begun.count_down();  // a waiting thread may take the argument away now
  std::this_thread::sleep_for(time);
  try {
    stream->synchronize(at::mps::SyncType::COMMIT);
  } catch (const c10::Error&) {  // the worker's own wait tells of it
  }
}

void WaitOnQueue(void* argument) {
  auto* const wait = static_cast<Wait*>(argument);
  try {
    wait->stream->synchronize(at::mps::SyncType::COMMIT_AND_WAIT);
  } catch (...) {
    wait->failure = std::current_exception();
  }
}

}  // namespace

MpsBackend::MpsBackend()
    : get_stream_by_id_(Find<GetStreamById>(kGetStreamById)),
      set_current_stream_(Find<SetCurrentStream>(kSetCurrentStream)),
      patch_level_(ReadMpsPatchLevel()) {}

std::string MpsBackend::DeviceName() const { return CpuModelName() + " GPU"; }

std::string MpsBackend::WhyFewWorkers() const {
  if (HasPool()) return {};
  return "the loaded libtorch has no pool of MPS streams that can be asked for by number (" +
         std::string(kGetStreamById) + " is missing; stock libtorch has it from 2.15.0)";
}

// MPSGraph objects must not be encoded by two threads at once, so where they are shared only one
// thread submits at a time.
ForwardMode MpsBackend::DefaultMode() const {
  return HasGraphsByThread() ? ForwardMode::kParallel : ForwardMode::kEncodeLock;
}

void MpsBackend::Bootstrap() {
  try {
    // libtorch does not lock the first use of the default stream, of the pool, of the allocator and
    // of the cache of graphs. All of them happen here, before there is any other thread.
    streams_.fill(at::mps::getDefaultMPSStream());
    for (int slot = 1; HasPool() && slot < kStreamSlots; ++slot)
      streams_[static_cast<size_t>(slot)] = get_stream_by_id_(slot);
    const c10::InferenceMode inference_mode;
    const at::Tensor ones = at::ones({16, 16}, at::TensorOptions().device(at::kMPS));
    const at::Tensor product = at::mm(ones, ones);
  } catch (const c10::Error& error) {
    Rethrow(error);
  }
  Synchronize({DeviceType::kMps, kDefaultSlot});
}

void MpsBackend::BindThread(Stream stream, int intra_op_threads) {
  if (HasPool()) set_current_stream_(At(stream));
  previous_threads = at::get_num_threads();  // the first call initialises, and must not undo ours
  at::set_num_threads(intra_op_threads);
}

void MpsBackend::UnbindThread(Stream) noexcept {
  at::set_num_threads(previous_threads);
  if (HasPool()) set_current_stream_(nullptr);
}

bool MpsBackend::IsBound(Stream stream) const {
  return stream.device == DeviceType::kMps && at::mps::getCurrentMPSStream() == At(stream);
}

void MpsBackend::Synchronize(Stream stream) {
  Wait wait{.stream = At(stream), .failure = nullptr};
  // The caller must hold no lock that work on a queue takes. In serial mode it holds the lock of
  // that mode.
  dispatch_sync_f(wait.stream->queue(), &wait, WaitOnQueue);
  if (wait.failure == nullptr) return;
  try {
    std::rethrow_exception(wait.failure);
  } catch (const c10::Error& error) {
    Rethrow(error);
  }
}

// Objects that Metal hands out live until the autorelease pool of their thread is drained; without
// a pool, until the thread ends.
void* MpsBackend::EnterForward() { return objc_autoreleasePoolPush(); }
void MpsBackend::LeaveForward(void* scope) noexcept { objc_autoreleasePoolPop(scope); }

int64_t MpsBackend::AllocatedBytes() const {
  return static_cast<int64_t>(at::detail::getMPSHooks().getDriverAllocatedMemory());
}

std::unique_ptr<Backend> MakeMpsBackend(std::string& why_not) {
  if (!at::detail::getMPSHooks().hasMPS()) {
    why_not = "this machine has no GPU that libtorch's MPS backend supports";
    return nullptr;
  }
  return std::make_unique<MpsBackend>();
}

QueueHold::QueueHold(std::chrono::milliseconds time) {
  Hold hold{.stream = at::mps::getCurrentMPSStream(), .time = time};
  holder_ = std::thread([&hold] { dispatch_sync_f(hold.stream->queue(), &hold, HoldQueue); });
  hold.begun.wait();
}

QueueHold::~QueueHold() { holder_.join(); }

}  // namespace millrace::runtime
