// The stand-in keeps its rules: each breach ends the process with the message that a Mac would give
// or, where libtorch only races, one of its own.
#include <ATen/TensorOperators.h>
#include <ATen/mps/MPSStream.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <barrier>
#include <stdexcept>
#include <thread>

#include "mps_runtime/base/joining_thread.h"
#include "tests/fakes/mps/faults.h"
#include "tests/fakes/mps/graph_cache.h"
#include "tests/fakes/mps/metal.h"
#include "tests/fakes/mps/stream.h"

namespace millrace::mps_standin {
namespace {

using at::mps::MPSStream;

const at::TensorOptions kOnMps = at::TensorOptions().device(at::kMPS);

void OnQueue(MPSStream& stream, void (*work)(MPSStream&)) {
  struct Call {
    MPSStream& stream;
    void (*work)(MPSStream&);
  } call{stream, work};
  dispatch_sync_f(stream.queue(), &call, [](void* argument) {
    auto& self = *static_cast<Call*>(argument);
    self.work(self.stream);
  });
}

void OnThread(void (*body)()) { std::thread(body).join(); }

// Threads with a stream each, 1 and up, that begin the body together.
template <typename Body>
void OnStreams(int threads, const Body& body) {
  at::mps::getDefaultMPSStream();
  for (int id = 1; id <= threads; ++id) at::mps::getStreamByID(id);
  std::barrier start(threads);
  std::vector<JoiningThread> running;
  for (int id = 1; id <= threads; ++id) {
    running.emplace_back([&, id] {
      const c10::InferenceMode inference;
      MPSStream& stream = *at::mps::getStreamByID(id);
      at::mps::setCurrentMPSStream(&stream);
      start.arrive_and_wait();
      body(stream);
      at::mps::setCurrentMPSStream(nullptr);
    });
  }
}

void MultiplyAndWait(MPSStream& stream) {
  const at::Tensor x = at::empty({8, 8}, kOnMps);
  const at::Tensor product = x.matmul(x);
  CommitAndWait(stream);
}

// A first use by the main thread, as every process has it.
void MultiplyOnMainThread() {
  const c10::InferenceMode inference;
  MultiplyAndWait(*at::mps::getDefaultMPSStream());
}

class MpsStandinRulesTest : public ::testing::Test {
 protected:
  // Threads and a fork do not mix.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  void TearDown() override { TheFaults().Set("patch_level=0 encode_microseconds=0"); }
};
using MpsStandinTest = MpsStandinRulesTest;

TEST_F(MpsStandinRulesTest, AStreamIsUsedOnItsQueue) {
  EXPECT_DEATH(at::mps::getDefaultMPSStream()->synchronize(at::mps::SyncType::COMMIT),
               "synchronize off the stream's serial queue");
  EXPECT_DEATH(at::mps::getDefaultMPSStream()->commandEncoder(),
               "commandBuffer off the stream's serial queue");
}

TEST_F(MpsStandinRulesTest, AQueueIsNotWaitedForFromItself) {
  EXPECT_DEATH(OnQueue(*at::mps::getDefaultMPSStream(),
                       [](MPSStream& stream) { OnQueue(stream, [](MPSStream&) {}); }),
               "dispatch_sync called on queue already owned by current thread");
}

TEST_F(MpsStandinRulesTest, TheFirstUseIsTheMainThreads) {
  EXPECT_DEATH(OnThread([] { at::mps::getDefaultMPSStream(); }), "first use of a stream off");
  EXPECT_DEATH(OnThread([] { at::mps::getStreamByID(5); }), "first use of a stream off");
}

TEST_F(MpsStandinRulesTest, TheDefaultStreamIsTheMainThreads) {
  EXPECT_DEATH(
      {
        at::mps::getDefaultMPSStream();
        OnThread([] { Submit(*at::mps::getCurrentMPSStream(), [] {}); });
      },
      "default stream on a worker thread");
}

TEST_F(MpsStandinRulesTest, DeviceWideCallsAreTheMainThreads) {
  at::mps::synchronizeAllMPSStreams(at::mps::SyncType::COMMIT_AND_WAIT);
  EXPECT_DEATH(
      {
        at::mps::getDefaultMPSStream();
        OnThread([] { at::mps::synchronizeAllMPSStreams(at::mps::SyncType::COMMIT); });
      },
      "synchronizeAllMPSStreams on a worker thread");
}

TEST_F(MpsStandinRulesTest, AStreamIsCurrentOnOneThread) {
  EXPECT_DEATH(
      {
        at::mps::setCurrentMPSStream(at::mps::getStreamByID(3));
        OnThread([] { at::mps::setCurrentMPSStream(at::mps::getStreamByID(3)); });
      },
      "stream 3 is the current one of two threads");
}

TEST_F(MpsStandinRulesTest, ACommandBufferHasOneEncoderAndOneCommit) {
  const auto made = [] { return std::make_shared<CommandBuffer>(); };
  static auto* const queue = new CommandQueue;
  EXPECT_DEATH(
      {
        const auto buffer = made();
        buffer->OpenEncoder();
        buffer->OpenEncoder();
      },
      "A command encoder is already encoding to this command buffer");
  EXPECT_DEATH(
      {
        const auto buffer = made();
        buffer->OpenEncoder();
        queue->Commit(buffer);
      },
      "commit command buffer with uncommitted encoder");
  EXPECT_DEATH(
      {
        const auto buffer = made();
        queue->Commit(buffer);
        buffer->OpenEncoder();
      },
      "_status < MTLCommandBufferStatusCommitted");
  EXPECT_DEATH(
      {
        const auto buffer = made();
        queue->Commit(buffer);
        buffer->AddCompletedHandler([](const auto&) {});
      },
      "Completed handler provided after commit call");
  EXPECT_DEATH(
      {
        const auto buffer = made();
        queue->Commit(buffer);
        queue->Commit(buffer);
      },
      "already committed");
}

TEST_F(MpsStandinRulesTest, MoreStreamsThanTheLimitCrash) {
  EXPECT_DEATH(
      {
        TheFaults().Set("limit=1");
        for (const int id : {1, 2}) Submit(*at::mps::getStreamByID(id), [] {});
      },
      "already encoding");
  TheFaults().Set("limit=2");
  for (const int id : {1, 2}) Submit(*at::mps::getStreamByID(id), [] {});
  for (const int id : {1, 2}) CommitAndWait(*at::mps::getStreamByID(id));
  TheFaults().Set("limit=0");
}

// The encode lock of the backend is there for this.
TEST_F(MpsStandinRulesTest, AGraphThatThreadsShareIsEncodedByOneAtATime) {
  EXPECT_DEATH(
      {
        MultiplyOnMainThread();
        TheFaults().Set("encode_microseconds=100000");
        OnStreams(2, MultiplyAndWait);
      },
      "two threads encode one graph: aten::mm");
}

TEST_F(MpsStandinRulesTest, TheFirstUseOfSharedGraphsIsTheMainThreads) {
  EXPECT_DEATH(OnStreams(1, MultiplyAndWait), "first use of the graph cache off the main thread");
}

TEST_F(MpsStandinRulesTest, AThreadWithGraphsOfItsOwnWaitsBeforeItEnds) {
  EXPECT_DEATH(
      {
        TheFaults().Set("patch_level=1 gpu_microseconds=1000000");
        OnStreams(1, [](MPSStream& stream) {
          const at::Tensor x = at::empty({8, 8}, kOnMps);
          const at::Tensor product = x.matmul(x);
          OnQueue(stream, [](MPSStream& own) { own.synchronize(at::mps::SyncType::COMMIT); });
        });
      },
      "a thread ended before its graph was done: aten::mm");
}

TEST_F(MpsStandinRulesTest, TheSharedKernelOfLinearBearsTwoThreads) {
  EXPECT_DEATH(
      {
        MultiplyOnMainThread();
        TheFaults().Set("linear_microseconds=100000");
        OnStreams(3, [](MPSStream& stream) {
          const at::Tensor x = at::empty({8, 8}, kOnMps);
          const at::Tensor product = at::linear(x, x);
          CommitAndWait(stream);
        });
      },
      "three threads inside nn.Linear's kernel");
}

TEST_F(MpsStandinRulesTest, FaultsAreNamed) {
  EXPECT_THROW(TheFaults().Set("limt=1"), std::invalid_argument);
}

TEST_F(MpsStandinTest, WorkRunsWhenItIsCommitted) {
  const c10::InferenceMode inference;
  static bool ran = false;
  MPSStream& stream = *at::mps::getDefaultMPSStream();
  Submit(stream, [] { ran = true; });
  EXPECT_FALSE(ran);
  CommitAndWait(stream);
  EXPECT_TRUE(ran);
}

TEST_F(MpsStandinTest, OperatorsGiveTheNumbersOfTheCpu) {
  const c10::InferenceMode inference;
  const at::Tensor numbers = at::arange(24, at::kFloat).view({4, 6}) / 7;
  const auto same = [&](const auto& run) {
    EXPECT_TRUE(at::allclose(run(numbers.to(at::kMPS)).to(at::kCPU), run(numbers)));
  };
  same([](const at::Tensor& x) { return x + 1; });
  same([](const at::Tensor& x) { return x.clone().add_(2).mul_(x); });
  same([](const at::Tensor& x) { return x.transpose(0, 1).contiguous().narrow(0, 1, 2); });
  same([](const at::Tensor& x) { return at::cat({x, x.select(1, 0).unsqueeze(1)}, 1); });
  same([](const at::Tensor& x) { return at::linear(x, x, x.select(1, 2)); });
  same([](const at::Tensor& x) { return at::embedding(x, x.argmax(1) - 2); });
  same([](const at::Tensor& x) { return x.sum(1).softmax(0).expand({2, 4}); });
  same([](const at::Tensor& x) { return x.masked_select(x > 1); });
  EXPECT_EQ((numbers.to(at::kMPS).sum() > 1).item<bool>(), true);
}

TEST_F(MpsStandinTest, ThereIsNoFloat64) {
  EXPECT_THROW(at::empty({1}, kOnMps.dtype(at::kDouble)), c10::TypeError);
}

// A GPU's buffers go by address: what is freed is the stream's next one's.
TEST_F(MpsStandinTest, FreedMemoryIsUsedAgainAtOnce) {
  const c10::InferenceMode inference;
  const void* address = nullptr;
  {
    const at::Tensor first = at::empty({1000}, kOnMps);
    address = first.data_ptr();
  }
  EXPECT_EQ(at::empty({1000}, kOnMps).data_ptr(), address);
}

TEST_F(MpsStandinTest, ThreadsShareGraphsUnlessLibtorchIsPatched) {
  constexpr int kThreads = 4;
  MultiplyOnMainThread();
  const int64_t before = GraphsCompiled();
  for (int i = 0; i < kThreads; ++i) OnStreams(1, MultiplyAndWait);
  EXPECT_EQ(GraphsCompiled(), before);
  TheFaults().patch_level = 1;
  for (int i = 0; i < kThreads; ++i) OnStreams(1, MultiplyAndWait);
  EXPECT_EQ(GraphsCompiled(), before + kThreads);
}

TEST_F(MpsStandinTest, ManyThreadsWithAStreamAndGraphsEach) {
  TheFaults().patch_level = 1;
  std::atomic<int> next{0}, wrong{0};
  OnStreams(16, [&](MPSStream&) {
    const int number = next++;
    for (int round = 0; round < 50; ++round) {
      const at::Tensor x = at::ones({8, 8}, kOnMps) * number;
      if (!at::allclose(x.matmul(x).to(at::kCPU), at::ones({8, 8}) * (8 * number * number)))
        ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace millrace::mps_standin
