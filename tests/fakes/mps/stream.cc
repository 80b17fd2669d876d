// at::mps of libtorch 2.15, on Linux: its streams, with Metal's rules made fatal.
#include "tests/fakes/mps/stream.h"

#include <ATen/mps/MPSStream.h>
#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "tests/fakes/mps/faults.h"
#include "tests/fakes/mps/graph_cache.h"
#include "tests/fakes/mps/raise_to.h"
#include "tests/fakes/mps/rules.h"
#include "tests/fakes/mps/stream_state.h"

namespace millrace::mps_standin {
namespace {

constexpr size_t kStreams = 33;  // the default one and the pool

std::atomic<int> under_way{0};
std::atomic<int> most_under_way{0};
thread_local int autorelease_pools = 0;

StreamState& StateOf(const at::mps::MPSStream& stream) {
  return *static_cast<StreamState*>(stream.commandQueue());
}

bool CrashesInThisRun() {
  static const bool crashes = [] {
    std::random_device device;
    return std::uniform_real_distribution<>()(device) < TheFaults().crash_probability;
  }();
  return crashes;
}

// The work that is encoded instead, when the fault replaces it.
std::function<void()> OverTheLimit(std::function<void()> work) {
  if (TheFaults().hang) {
    return [] {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    };
  }
  if (TheFaults().wrong_results) return [] {};
  if (CrashesInThisRun()) Violation("A command encoder is already encoding to this command buffer");
  return work;
}

void NoteStart(StreamState& state) {
  if (state.buffers.fetch_add(1) != 0) return;
  RaiseTo(most_under_way, ++under_way);
}

void NoteEnd(StreamState& state) {
  if (state.buffers.fetch_sub(1) == 1) --under_way;
}

struct Call {
  at::mps::MPSStream& stream;
  std::function<void()> body;
  std::exception_ptr failure;
};

void OnQueue(at::mps::MPSStream& stream, std::function<void()> body) {
  Call call{stream, std::move(body), nullptr};
  dispatch_sync_f(stream.queue(), &call, [](void* argument) {
    auto& self = *static_cast<Call*>(argument);
    try {
      self.body();
    } catch (...) {
      self.failure = std::current_exception();
    }
  });
  if (call.failure) std::rethrow_exception(call.failure);
}

}  // namespace

at::mps::MPSStream* StreamOf(int64_t id) {
  static std::array<at::mps::MPSStream*, kStreams> streams = {};
  static std::array<FirstUse, kStreams>* const first_uses = [] {
    return new std::array<FirstUse, kStreams>([]<size_t... i>(std::index_sequence<i...>) {
      return std::array<FirstUse, kStreams>{((void)i, FirstUse("a stream"))...};
    }(std::make_index_sequence<kStreams>()));
  }();
  const auto index = static_cast<size_t>(id);
  (*first_uses)[index].Check();
  if (streams[index] == nullptr) {
    streams[index] =
        new at::mps::MPSStream(c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::kMPS, 0), id));
  }
  return streams[index];
}

void Submit(at::mps::MPSStream& stream, std::function<void()> work, Graph* graph) {
  std::shared_ptr<CommandBuffer> fetched;
  if (TheFaults().off_queue) {
    stream.commandEncoder();
    fetched = StateOf(stream).open;
  }
  OnQueue(stream, [&] {
    std::optional<Graph::Encoding> encoding;
    if (graph != nullptr) encoding.emplace(*graph);
    if (fetched == nullptr) {
      stream.commandEncoder();
      fetched = StateOf(stream).open;
    }
    const int limit = TheFaults().limit;
    if (limit > 0 && under_way > limit) work = OverTheLimit(std::move(work));
    CommandBuffer& buffer = *fetched;
    buffer.Encode(std::move(work));
    if (graph == nullptr) return;
    graph->BeginUse();
    buffer.AddCompletedHandler([graph](const std::optional<std::string>&) { graph->EndUse(); });
  });
}

void CommitAndWait(at::mps::MPSStream& stream) {
  OnQueue(stream, [&] { stream.synchronize(at::mps::SyncType::COMMIT_AND_WAIT); });
}

int StreamsUnderWay() { return under_way; }
int MostStreamsUnderWay() { return most_under_way; }
void ResetMostStreamsUnderWay() { most_under_way = under_way.load(); }
int OpenAutoreleasePools() { return autorelease_pools; }

}  // namespace millrace::mps_standin

namespace at::mps {
namespace {

using millrace::mps_standin::CommandBuffer;
using millrace::mps_standin::HasPool;
using millrace::mps_standin::OnMainThread;
using millrace::mps_standin::StateOf;
using millrace::mps_standin::StreamOf;
using millrace::mps_standin::StreamState;
using millrace::mps_standin::Violation;

thread_local MPSStream* current = nullptr;

// The queue's owner, and of the default stream the main thread: libtorch does not check, it races.
void CheckMayEncode(const MPSStream& stream, const char* call) {
  if (!StateOf(stream).queue.IsHeldHere() && !millrace::mps_standin::TheFaults().off_queue)
    Violation(std::string(call) + " off the stream's serial queue");
  if (HasPool() && stream.unwrap().id() == 0 && !OnMainThread())
    Violation(std::string(call) + " of the default stream on a worker thread");
}

}  // namespace

MPSStream::MPSStream(Stream stream) : _stream(stream) {
  auto* const state = new StreamState;  // like the stream, for ever
  _commandQueue = state;
  _serialQueue = &state->queue;
}

MPSCommandBuffer_t MPSStream::commandBuffer() {
  CheckMayEncode(*this, "commandBuffer");
  StreamState& state = StateOf(*this);
  if (state.open == nullptr) {
    state.open = std::make_shared<CommandBuffer>();
    millrace::mps_standin::NoteStart(state);
    state.open->AddCompletedHandler([&state](const std::optional<std::string>& error) {
      if (error) {
        const std::scoped_lock lock(state.mu);
        if (!state.error) state.error = error;
      }
      millrace::mps_standin::NoteEnd(state);
    });
  }
  return state.open.get();
}

MTLComputeCommandEncoder_t MPSStream::commandEncoder() {
  auto* const buffer = static_cast<CommandBuffer*>(commandBuffer());
  // Kernels share one encoder until somebody ends it.
  if (_commandEncoder == nullptr) {
    buffer->OpenEncoder();
    _commandEncoder = buffer;
  }
  return _commandEncoder;
}

void MPSStream::endKernelCoalescing() {
  if (_commandEncoder == nullptr) return;
  static_cast<CommandBuffer*>(_commandEncoder)->CloseEncoder();
  _commandEncoder = nullptr;
}

void MPSStream::synchronize(SyncType type) {
  CheckMayEncode(*this, "synchronize");
  if (type == SyncType::NONE) return;
  endKernelCoalescing();
  StreamState& state = StateOf(*this);
  if (state.open != nullptr) {
    state.last_committed = state.open;
    state.gpu.Commit(std::move(state.open));
    state.open = nullptr;
  }
  if (type != SyncType::COMMIT_AND_WAIT) return;
  if (state.last_committed != nullptr) {
    state.last_committed->WaitUntilCompleted();
    state.last_committed = nullptr;
  }
  checkLastError();
}

void MPSStream::checkLastError() {
  StreamState& state = StateOf(*this);
  std::optional<std::string> error;
  {
    const std::scoped_lock lock(state.mu);
    error.swap(state.error);
  }
  TORCH_CHECK(!error, "MPS command buffer execution failed: ", *error);
}

MPSStream* getDefaultMPSStream() { return StreamOf(0); }

MPSStream* getCurrentMPSStream() { return current != nullptr ? current : getDefaultMPSStream(); }

void synchronizeAllMPSStreams(SyncType) {
  if (!OnMainThread()) Violation("synchronizeAllMPSStreams on a worker thread");
  for (int64_t id = 0; id < static_cast<int64_t>(millrace::mps_standin::kStreams); ++id)
    millrace::mps_standin::CommitAndWait(*StreamOf(id));
}

}  // namespace at::mps

namespace millrace::mps_standin {

void SetCurrent(at::mps::MPSStream* stream) {
  const auto self = std::this_thread::get_id();
  if (at::mps::current != nullptr) StateOf(*at::mps::current).current_on = std::thread::id();
  at::mps::current = stream;
  if (stream == nullptr) return;
  std::thread::id nobody{};
  if (!StateOf(*stream).current_on.compare_exchange_strong(nobody, self)) {
    Violation("stream " + std::to_string(stream->unwrap().id()) +
              " is the current one of two threads");
  }
}

}  // namespace millrace::mps_standin

extern "C" {
void* objc_autoreleasePoolPush() {
  return reinterpret_cast<void*>(static_cast<intptr_t>(++millrace::mps_standin::autorelease_pools));
}
void objc_autoreleasePoolPop(void* pool) {
  const auto depth = static_cast<int>(reinterpret_cast<intptr_t>(pool));
  if (depth != millrace::mps_standin::autorelease_pools)
    millrace::mps_standin::Violation("Invalid or prematurely-freed autorelease pool");
  --millrace::mps_standin::autorelease_pools;
}
}
