// The MPS backend's own source on the stand-in for libtorch's MPS library (tests/fakes/mps), which
// ends the process when a rule of Metal or of libtorch is broken.
#include "mps_runtime/backend/mps/mps_backend.h"

#include <ATen/TensorOperators.h>
#include <ATen/mps/MPSStream.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <latch>
#include <stdexcept>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/runtime.h"
#include "tests/fakes/mps/faults.h"
#include "tests/fakes/mps/graph_cache.h"
#include "tests/fakes/mps/stream.h"

namespace millrace::runtime {
namespace {

using mps_standin::Submit;
using mps_standin::TheFaults;

at::mps::MPSStream& Current() { return *at::mps::getCurrentMPSStream(); }

RuntimeOptions Mps(int workers) {
  RuntimeOptions options;
  options.device = DeviceType::kMps;
  options.workers = workers;
  options.intra_op_threads = 1;
  return options;
}

RuntimeOptions MpsWithPermits(int workers) {
  RuntimeOptions options = Mps(workers);
  options.max_in_flight = workers;
  options.accept_unsafe_concurrency = true;
  return options;
}

// A small network with everything that a vocoder and a decoder are made of but nn.Linear.
at::Tensor Network(const at::Tensor& input, const at::Tensor& kernel) {
  at::Tensor x = input;
  for (int i = 0; i < 3; ++i) x = at::softmax(x + at::conv1d(x, kernel, {}, 1, 1), -1) * 3;
  return x.matmul(x.transpose(-1, -2));
}

class MpsBackendTest : public ::testing::Test {
 protected:
  void TearDown() override {
    TheFaults().error_every = 0;
    TheFaults().memory_bytes = 0;
    TheFaults().gpu_microseconds = 0;
    TheFaults().encode_microseconds = 0;
    TheFaults().patch_level = 0;
  }
};

TEST_F(MpsBackendTest, TheHostsOperatorsRunOnOneThreadUnlessSaidOtherwise) {
  RuntimeOptions options = Mps(1);
  options.intra_op_threads = 0;
  EXPECT_EQ(Runtime::Bootstrap(options)->intra_op_threads(), 1);
  options.intra_op_threads = 3;
  EXPECT_EQ(Runtime::Bootstrap(options)->intra_op_threads(), 3);
}

TEST_F(MpsBackendTest, TwoForwardsAtOnceUnderAnEncodeLockUnlessSaidOtherwise) {
  const auto runtime = Runtime::Bootstrap(Mps(8));
  EXPECT_EQ(runtime->device(), DeviceType::kMps);
  EXPECT_EQ(runtime->workers(), 8);
  EXPECT_EQ(runtime->why_fewer_workers(), "");
  EXPECT_EQ(runtime->limiter().permits(), MpsBackend::kDefaultConcurrency);
  EXPECT_EQ(runtime->mode(), ForwardMode::kEncodeLock);
  EXPECT_EQ(runtime->provenance().pool_symbols, "getStreamByID");
  EXPECT_EQ(runtime->provenance().device, "mps");
}

TEST_F(MpsBackendTest, ThePatchLevelIsThatOfTheLoadedLibrary) {
  EXPECT_EQ(Runtime::Describe(DeviceType::kMps).provenance.mps_patch_level, 0);
  TheFaults().patch_level = 1;
  EXPECT_EQ(Runtime::Bootstrap(Mps(1))->provenance().mps_patch_level, 1);
}

TEST_F(MpsBackendTest, APatchedLibtorchNeedsNoEncodeLock) {
  TheFaults().patch_level = 1;
  const DeviceFacts facts = Runtime::Describe(DeviceType::kMps);
  EXPECT_EQ(facts.default_mode, ForwardMode::kParallel);
  EXPECT_EQ(facts.mode, ForwardMode::kParallel);
  {
    const auto runtime = Runtime::Bootstrap(Mps(8));
    EXPECT_EQ(runtime->mode(), ForwardMode::kParallel);
    EXPECT_EQ(runtime->limiter().permits(), MpsBackend::kDefaultConcurrency);
    EXPECT_EQ(runtime->safe_concurrency_source(), "policy");
  }
  RuntimeOptions options = Mps(8);
  for (const ForwardMode mode : {ForwardMode::kEncodeLock, ForwardMode::kSerial}) {
    options.mode = mode;
    EXPECT_EQ(Runtime::Bootstrap(options)->mode(), mode);
  }
}

TEST_F(MpsBackendTest, AnUnknownPatchLevelIsRefused) {
  for (const int level : {-1, 2}) {
    TheFaults().patch_level = level;
    try {
      Runtime::Bootstrap(Mps(1));
      ADD_FAILURE() << "patch level " << level;
    } catch (const std::runtime_error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find("millrace_mps_patch_level() = " + std::to_string(level) + " in "), 0u)
          << message;
      EXPECT_TRUE(message.ends_with(": allowed is 1")) << message;
    }
  }
}

TEST_F(MpsBackendTest, EachSlotIsTheStreamOfItsNumber) {
  const auto runtime = Runtime::Bootstrap(Mps(kWorkerSlots));
  {
    const auto main = runtime->EnterMainThread();
    EXPECT_EQ(Current().unwrap().id(), 0);
  }
  std::latch all_in(kWorkerSlots);
  std::atomic<int> wrong{0};
  std::vector<JoiningThread> threads;
  for (int i = 0; i < kWorkerSlots; ++i) {
    threads.emplace_back([&] {
      const auto context = runtime->EnterWorker();
      if (Current().unwrap().id() != context->stream().slot) ++wrong;
      all_in.arrive_and_wait();
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(MpsBackendTest, SixteenThreadsGiveTheNumbersOfTheCpu) {
  constexpr int kThreads = 16;
  constexpr int kRounds = 20;
  const auto runtime = Runtime::Bootstrap(MpsWithPermits(kThreads));
  std::barrier start(kThreads);
  std::atomic<int> wrong{0};
  std::vector<JoiningThread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      at::Tensor input, kernel, expected;
      {
        const c10::InferenceMode inference;
        input = at::full({1, 8, 32}, 0.01F * static_cast<float>(i));
        kernel = at::ones({8, 8, 3}) / 24;
        expected = Network(input, kernel);
      }
      const auto context = runtime->EnterWorker();
      start.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) {
        const ForwardScope scope(*runtime, *context);
        const at::Tensor there = Network(input.to(at::kMPS), kernel.to(at::kMPS));
        context->Synchronize();
        if (!at::allclose(there.to(at::kCPU), expected)) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

// Runs the same forward on all threads at once; the greatest number that encoded at the same time.
int MostThatEncodeAtOnce(int threads) {
  TheFaults().encode_microseconds = 2'000;
  const auto runtime = Runtime::Bootstrap(MpsWithPermits(threads));
  mps_standin::ResetMostEncodingsAtOnce();
  std::barrier start(threads);
  std::vector<JoiningThread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      const auto context = runtime->EnterWorker();
      start.arrive_and_wait();
      for (int round = 0; round < 3; ++round) {
        const ForwardScope scope(*runtime, *context);
        const at::Tensor ones = at::ones({8, 8}, at::TensorOptions().device(at::kMPS));
        const at::Tensor product = ones.matmul(ones);
        context->Synchronize();
        EXPECT_TRUE(at::allclose(product.to(at::kCPU), at::ones({8, 8}) * 8));
      }
    });
  }
  running.clear();
  return mps_standin::MostEncodingsAtOnce();
}

// The stand-in ends the process when two threads encode a graph that they share.
TEST_F(MpsBackendTest, OneThreadAtATimeEncodesGraphsThatAreShared) {
  EXPECT_EQ(MostThatEncodeAtOnce(8), 1);
}

TEST_F(MpsBackendTest, ThreadsWithGraphsOfTheirOwnEncodeThemAtOnce) {
  TheFaults().patch_level = 1;
  EXPECT_GT(MostThatEncodeAtOnce(8), 1);
}

TEST_F(MpsBackendTest, SynchronizeReturnsWhenTheWorkIsDone) {
  const auto runtime = Runtime::Bootstrap(Mps(1));
  TheFaults().gpu_microseconds = 200'000;  // longer than a busy host is away
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    const ForwardScope scope(*runtime, *context);
    // The host reuses the memory of an input as soon as Synchronize has returned.
    std::vector<float> memory(64, 1);
    const at::Tensor input = at::from_blob(memory.data(), {64});
    const at::Tensor output = at::full({64}, 0.0F, at::TensorOptions().device(at::kMPS));
    output.copy_(input, /*non_blocking=*/true);
    context->Synchronize();
    memory.assign(64, 2);
    EXPECT_TRUE(at::allclose(output.to(at::kCPU), at::ones({64})));
  });
}

TEST_F(MpsBackendTest, AThreadWaitsForItsOwnStreamOnly) {
  const auto runtime = Runtime::Bootstrap(MpsWithPermits(2));
  std::latch first_waits(1), second_is_done(1);
  JoiningThread first([&] {
    const auto context = runtime->EnterWorker();
    const ForwardScope scope(*runtime, *context);
    Submit(Current(), [&] {
      first_waits.count_down();
      second_is_done.wait();
    });
    context->Synchronize();
  });
  JoiningThread second([&] {
    const auto context = runtime->EnterWorker();
    first_waits.wait();
    for (int i = 0; i < 3; ++i) {
      const ForwardScope scope(*runtime, *context);
      Submit(Current(), [] {});
      context->Synchronize();
    }
    second_is_done.count_down();
  });
}

TEST_F(MpsBackendTest, NoMoreStreamsAreUnderWayThanThereArePermits) {
  constexpr int kThreads = 12;
  const auto runtime = Runtime::Bootstrap(Mps(kThreads));
  TheFaults().gpu_microseconds = 100;
  mps_standin::ResetMostStreamsUnderWay();
  std::barrier start(kThreads);
  std::vector<JoiningThread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto context = runtime->EnterWorker();
      start.arrive_and_wait();
      for (int round = 0; round < 20; ++round) {
        const ForwardScope scope(*runtime, *context);
        Submit(Current(), [] {});
        context->Synchronize();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(mps_standin::MostStreamsUnderWay(), MpsBackend::kDefaultConcurrency);
}

TEST_F(MpsBackendTest, AForwardThatFailsLeavesNothingUnderWay) {
  const auto runtime = Runtime::Bootstrap(Mps(1));
  TheFaults().gpu_microseconds = 5'000;
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    try {
      const ForwardScope scope(*runtime, *context);
      Submit(Current(), [] {});
      throw std::runtime_error("a model gave up");
    } catch (const std::runtime_error&) {
      // Expected.
    }
    EXPECT_EQ(mps_standin::StreamsUnderWay(), 0);
  });
}

// The thread is still there, so that what it leaves behind is not cleaned up by its end.
TEST_F(MpsBackendTest, AStreamThatWasGivenBackIsTheNextThreads) {
  const auto runtime = Runtime::Bootstrap(Mps(1));
  std::latch returned(1), next_has_run(1);
  int64_t first_id = 0, next_id = 0;
  JoiningThread first([&] {
    {
      const auto context = runtime->EnterWorker();
      first_id = Current().unwrap().id();
      const ForwardScope scope(*runtime, *context);
      Submit(Current(), [] {});
    }
    EXPECT_EQ(mps_standin::StreamsUnderWay(), 0);
    EXPECT_EQ(Current().unwrap().id(), 0);
    returned.count_down();
    next_has_run.wait();
  });
  JoiningThread next([&] {
    returned.wait();
    const auto context = runtime->EnterWorker();
    next_id = Current().unwrap().id();
    const ForwardScope scope(*runtime, *context);
    Submit(Current(), [] {});
    context->Synchronize();
    next_has_run.count_down();
  });
  first.join();
  next.join();
  EXPECT_EQ(first_id, next_id);
}

TEST_F(MpsBackendTest, AnErrorOfTheGpuFailsOneForward) {
  const auto runtime = Runtime::Bootstrap(Mps(1));
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    std::vector<bool> failed;
    TheFaults().error_every = 1;
    for (int i = 0; i < 3; ++i) {
      const ForwardScope scope(*runtime, *context);
      Submit(Current(), [] {});
      try {
        context->Synchronize();
        failed.push_back(false);
      } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("Internal Error"), std::string::npos);
        failed.push_back(true);
      }
      TheFaults().error_every = 0;
    }
    EXPECT_EQ(failed, (std::vector<bool>{true, false, false}));
  });
}

TEST_F(MpsBackendTest, WantOfMemoryFailsOneForward) {
  const auto runtime = Runtime::Bootstrap(Mps(1));
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    TheFaults().memory_bytes = 1;
    try {
      const ForwardScope scope(*runtime, *context);
      at::ones({1 << 20}, at::TensorOptions().device(at::kMPS));
      ADD_FAILURE() << "memory beyond the limit";
    } catch (const c10::OutOfMemoryError&) {
      // Expected: the worker's loop answers that one request with it.
    }
    TheFaults().memory_bytes = 0;
    const ForwardScope scope(*runtime, *context);
    const at::Tensor ones = at::ones({1 << 20}, at::TensorOptions().device(at::kMPS));
    EXPECT_TRUE(at::allclose(ones.to(at::kCPU), at::ones({1 << 20})));
  });
  EXPECT_GE(runtime->device_bytes(), 4 << 20);
}

TEST_F(MpsBackendTest, EachForwardHasAnAutoreleasePool) {
  const auto runtime = Runtime::Bootstrap(Mps(1));
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    for (const bool fails : {false, true}) {
      try {
        const ForwardScope scope(*runtime, *context);
        EXPECT_EQ(mps_standin::OpenAutoreleasePools(), 1);
        if (fails) throw std::runtime_error("a model gave up");
      } catch (const std::runtime_error&) {
        // Expected.
      }
      EXPECT_EQ(mps_standin::OpenAutoreleasePools(), 0);
    }
  });
}

TEST_F(MpsBackendTest, AChangedCurrentStreamIsNoticed) {
  const auto runtime = Runtime::Bootstrap(Mps(2));
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    at::mps::setCurrentMPSStream(at::mps::getStreamByID(7));
    EXPECT_THROW(ForwardScope(*runtime, *context), StreamError);
  });
}

}  // namespace
}  // namespace millrace::runtime
