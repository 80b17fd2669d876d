#include "mps_runtime/backend/cuda/cuda_backend.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/MemPool.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>

#include "mps_runtime/backend/cuda/cuda_module.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/errors.h"

namespace millrace::runtime {
namespace {

constexpr c10::DeviceIndex kDevice = 0;

thread_local int previous_threads = 1;
// The memory pool of the thread's graphs. They run one after the other, so memory of destroyed
// graphs, and memory that a graph needs only while it runs, is reused by the next one. With a pool
// for each graph, the memory of evicted graphs came back only when the device was full.
thread_local std::unique_ptr<at::cuda::MemPool> graph_memory;

// Graphs are recorded and destroyed by one thread at a time, because both change the table of
// graphs of the process's default generator, which libtorch does not lock. Nor may memory be given
// back to the device while any thread records. The mutex is never destroyed, because workers may
// outlive static objects.
Mutex& RecordingMutex() {
  static auto* const mu = new Mutex;
  return *mu;
}

size_t ReservedBytes() {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(kDevice);
  constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return static_cast<size_t>(std::max<int64_t>(0, stats.reserved_bytes[kAll].current));
}

[[noreturn]] void Rethrow(const c10::Error& error) {
  throw DeviceError(error.what_without_backtrace());
}

// Lets segments of memory grow, so that what graphs of one shape leave free fits those of others.
// The variables are libtorch's, by which the operator may say otherwise.
void LetSegmentsGrow() {
  if (std::getenv("PYTORCH_ALLOC_CONF") == nullptr &&
      std::getenv("PYTORCH_CUDA_ALLOC_CONF") == nullptr)
    c10::cuda::CUDACachingAllocator::setAllocatorSettings("expandable_segments:True");
}

class Silent final : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

class CudaGraph final : public DeviceGraph {
 public:
  CudaGraph(c10::cuda::CUDAStream stream, const std::function<void()>& submit) : stream_(stream) {
    const MutexLock lock(RecordingMutex());
    const size_t before = ReservedBytes();
    if (graph_memory == nullptr) graph_memory = std::make_unique<at::cuda::MemPool>();
    graph_ = std::make_unique<at::cuda::CUDAGraph>();
    // Thread-local mode: other threads keep allocating and launching on their own streams.
    graph_->capture_begin(graph_memory->id(), cudaStreamCaptureModeThreadLocal);
    // The end of the capture warns of a graph without work, which a forward that only passes its
    // input on produces.
    Silent silent;
    try {
      submit();
      const c10::WarningUtils::WarningHandlerGuard guard(&silent);
      graph_->capture_end();
    } catch (...) {
      // When `submit` threw, the capture still has to end, and ending it then fails too.
      if (IsCapturing()) EndVoidCapture(silent);
      Discard();
      throw;
    }
    const size_t after = ReservedBytes();
    bytes_ = after > before ? after - before : 0;
  }

  ~CudaGraph() override {
    // The graph's memory must not be reused while it runs.
    (void)cudaStreamSynchronize(stream_.stream());
    const MutexLock lock(RecordingMutex());
    Discard();
  }

  void Replay() override {
    try {
      graph_->replay();
    } catch (const c10::Error& error) {
      Rethrow(error);
    }
  }
  size_t SizeBytes() const override { return bytes_; }

 private:
  bool IsCapturing() const noexcept {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream_.stream(), &status) == cudaSuccess &&
           status != cudaStreamCaptureStatusNone;
  }
  void EndVoidCapture(Silent& silent) noexcept MILLRACE_REQUIRES(RecordingMutex()) {
    try {
      const c10::WarningUtils::WarningHandlerGuard guard(&silent);
      graph_->capture_end();
    } catch (...) {
      // The exception that made the capture void is already in flight.
    }
  }
  void Discard() noexcept MILLRACE_REQUIRES(RecordingMutex()) {
    try {
      graph_.reset();
    } catch (...) {
      // The device failed; its next user gets the error.
    }
    (void)cudaGetLastError();
  }

  const c10::cuda::CUDAStream stream_;
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
  size_t bytes_ = 0;
};

}  // namespace

std::string CudaBackend::DeviceName() const {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, kDevice) != cudaSuccess) return "unknown GPU";
  return properties.name;
}

void CudaBackend::Bootstrap() {
  try {
    // Convolutions are computed in float32, as on the CPU. With factors rounded to 10 bits a
    // voice's samples were off by 0.01, and it was no faster.
    at::globalContext().setAllowTF32CuDNN(false);
    at::globalContext().setAllowTF32CuBLAS(false);
    LetSegmentsGrow();
    c10::cuda::set_device(kDevice);
    streams_.assign(1, c10::cuda::getDefaultCUDAStream(kDevice));
    // The pool is a ring of kStreamSlots, so that many streams in a row are distinct.
    for (int slot = 1; slot < kStreamSlots; ++slot)
      streams_.push_back(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, kDevice));
    for (size_t slot = 2; slot < streams_.size(); ++slot) {
      if (streams_[slot] == streams_[1])
        throw DeviceError("libtorch's pool of CUDA streams has fewer than the 31 that are leased");
    }
    // Creates the context and the library handles that the first matrix product needs.
    const at::Tensor ones = at::ones({16, 16}, at::TensorOptions().device(at::kCUDA, kDevice));
    const at::Tensor product = at::matmul(ones, ones);
    streams_[0].synchronize();
  } catch (const c10::Error& error) {
    Rethrow(error);
  }
}

void CudaBackend::BindThread(Stream stream, int intra_op_threads) {
  // Created now, so that at the end of the thread it outlives a context that ends with the thread.
  graph_memory.reset();
  try {
    // libtorch defers its own call until there is work, and cuBLAS then warns of a thread without a
    // context.
    (void)cudaSetDevice(kDevice);
    c10::cuda::setCurrentCUDAStream(streams_[static_cast<size_t>(stream.slot)]);
  } catch (const c10::Error& error) {
    Rethrow(error);
  }
  previous_threads = at::get_num_threads();  // the first call initialises, and must not undo ours
  at::set_num_threads(intra_op_threads);
}

void CudaBackend::UnbindThread(Stream) noexcept {
  at::set_num_threads(previous_threads);
  if (graph_memory != nullptr) {
    const MutexLock lock(RecordingMutex());
    graph_memory.reset();
  }
  try {
    c10::cuda::setCurrentCUDAStream(streams_[kDefaultSlot]);
  } catch (const c10::Error&) {
    // The thread is ending, and nothing runs on its stream any more.
  }
}

bool CudaBackend::IsBound(Stream stream) const {
  return stream.device == DeviceType::kCuda &&
         c10::cuda::getCurrentCUDAStream(kDevice) == streams_[static_cast<size_t>(stream.slot)];
}

void CudaBackend::Synchronize(Stream stream) {
  try {
    streams_[static_cast<size_t>(stream.slot)].synchronize();
  } catch (const c10::Error& error) {
    Rethrow(error);
  }
}

std::unique_ptr<DeviceGraph> CudaBackend::Capture(Stream stream,
                                                  const std::function<void()>& submit) {
  // Nothing can be recorded on the legacy default stream.
  if (stream.slot == kDefaultSlot) return nullptr;
  return std::make_unique<CudaGraph>(streams_[static_cast<size_t>(stream.slot)], submit);
}

bool CudaBackend::ReleaseMemoryIfShort() noexcept {
  try {
    const int64_t failed = c10::cuda::CUDACachingAllocator::getDeviceStats(kDevice).num_ooms;
    if (failed_allocations_.exchange(failed) == failed) return false;
    const MutexLock lock(RecordingMutex());
    c10::cuda::CUDACachingAllocator::emptyCache();
    return true;
  } catch (...) {
    return false;  // the request fails in any case
  }
}

int64_t CudaBackend::AllocatedBytes() const { return static_cast<int64_t>(ReservedBytes()); }

}  // namespace millrace::runtime

extern "C" __attribute__((visibility("default"))) millrace::runtime::Backend*
MillraceMakeCudaBackend(std::string* why_not) {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    (void)cudaGetLastError();
    *why_not = cudaGetErrorString(error);
    return nullptr;
  }
  if (count == 0) {
    *why_not = "the machine has no GPU";
    return nullptr;
  }
  return new millrace::runtime::CudaBackend();
}
