// Tests ForwardScope and Synchronize on a device that this test commands: its waits block
// until the test says so, and it fails on request. It stands in for CUDA by defining the function
// that the library would take from backend/cuda/load_cuda.cc.
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mps_runtime/backend.h"
#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/runtime.h"

namespace millrace::runtime {
namespace {

constexpr int kSafe = 4;

thread_local Stream bound_stream{DeviceType::kCpu, -1};
std::function<void(Stream)>* on_synchronize = nullptr;

class FakeDevice final : public Backend {
 public:
  DeviceType device() const override { return DeviceType::kCuda; }
  std::string DeviceName() const override { return "fake"; }
  int SafeConcurrency() const override { return kSafe; }
  int UsefulWorkers() const override { return 1; }
  void Bootstrap() override {}
  void BindThread(Stream stream, int) override { bound_stream = stream; }
  void UnbindThread(Stream) noexcept override { bound_stream = {DeviceType::kCpu, -1}; }
  bool IsBound(Stream stream) const override { return bound_stream == stream; }
  void Synchronize(Stream stream) override {
    if (on_synchronize != nullptr) (*on_synchronize)(stream);
  }
  bool ReleaseMemoryIfShort() noexcept override { return short_of_memory; }

  static inline bool short_of_memory = false;
};

class FakeEntry final : public GraphEntry {
 public:
  size_t SizeBytes() const override { return 1; }
};

}  // namespace

std::unique_ptr<Backend> MakeCudaBackend(std::string&) { return std::make_unique<FakeDevice>(); }

namespace {

class ForwardScopeTest : public ::testing::Test {
 protected:
  void TearDown() override {
    on_synchronize = nullptr;
    FakeDevice::short_of_memory = false;
  }

  std::unique_ptr<Runtime> Start(ForwardMode mode, std::optional<int> max_in_flight = {}) {
    RuntimeOptions options;
    options.device = DeviceType::kCuda;
    options.workers = 16;
    options.mode = mode;
    options.max_in_flight = max_in_flight;
    return Runtime::Bootstrap(options);
  }

  // 16 workers run forwards that count how many are inside at once; returns the largest count.
  int MostInsideAtOnce(Runtime& runtime) {
    constexpr int kThreads = 16;
    constexpr int kRounds = 300;
    std::barrier start(kThreads);
    std::atomic<int> inside{0}, most{0};
    std::vector<JoiningThread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        const auto context = runtime.EnterWorker();
        start.arrive_and_wait();
        for (int round = 0; round < kRounds; ++round) {
          const ForwardScope scope(runtime, *context);
          const int now = ++inside;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --inside;
        }
      });
    }
    threads.clear();
    EXPECT_EQ(runtime.limiter().in_use(), 0);
    return most;
  }
};

TEST_F(ForwardScopeTest, ParallelIsBoundedByThePermits) {
  const auto runtime = Start(ForwardMode::kParallel);
  EXPECT_EQ(runtime->limiter().permits(), kSafe);
  const int most = MostInsideAtOnce(*runtime);
  EXPECT_LE(most, kSafe);
  EXPECT_GT(most, 1);
}

TEST_F(ForwardScopeTest, OnlyWantOfMemoryEmptiesTheGraphCache) {
  const auto runtime = Start(ForwardMode::kParallel);
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    context->graph_cache().Insert({.model = "m", .entry_point = "f"},
                                  std::make_unique<FakeEntry>());
    for (const bool short_of_memory : {false, true}) {
      FakeDevice::short_of_memory = short_of_memory;
      try {
        const ForwardScope scope(*runtime, *context);
        throw std::runtime_error("forward failed");
      } catch (const std::runtime_error&) {
        // Expected.
      }
      EXPECT_EQ(context->graph_cache().stats().entries, short_of_memory ? 0U : 1U);
    }
  });
}

TEST_F(ForwardScopeTest, SerialRunsOneAtATime) {
  const auto runtime = Start(ForwardMode::kSerial);
  EXPECT_EQ(MostInsideAtOnce(*runtime), 1);
  EXPECT_EQ(runtime->limiter().peak_in_use(), 1);
}

TEST_F(ForwardScopeTest, EncodeLockLetsOneThreadSubmit) {
  const auto runtime = Start(ForwardMode::kEncodeLock);
  EXPECT_EQ(MostInsideAtOnce(*runtime), 1);
}

TEST_F(ForwardScopeTest, EncodeLockIsFreeWhileAThreadWaitsForTheDevice) {
  const auto runtime = Start(ForwardMode::kEncodeLock);
  std::atomic<bool> first_waits{false}, second_done{false};
  std::function<void(Stream)> wait = [&](Stream stream) {
    if (stream.slot != 1) return;
    first_waits = true;
    while (!second_done) std::this_thread::yield();
  };
  on_synchronize = &wait;
  int submitting = 0;  // guarded by the encode lock: TSan would see a hole in it
  JoiningThread first([&] {
    const auto context = runtime->EnterWorker();
    ASSERT_EQ(context->stream().slot, 1);
    {
      const ForwardScope scope(*runtime, *context);
      ++submitting;
      context->Synchronize();
      EXPECT_TRUE(second_done);
      ++submitting;
    }
  });
  while (!first_waits) std::this_thread::yield();
  JoiningThread second([&] {
    const auto context = runtime->EnterWorker();
    {
      const ForwardScope scope(*runtime, *context);
      ++submitting;
      EXPECT_EQ(runtime->limiter().in_use(), 2);
    }
    second_done = true;
  });
  second.join();
  first.join();
  EXPECT_EQ(submitting, 3);
}

TEST_F(ForwardScopeTest, ReportsHowLongItWaited) {
  const auto runtime = Start(ForwardMode::kParallel, 1);
  Duration waited{};
  std::thread next;
  {
    const auto context = runtime->EnterMainThread();
    const ForwardScope scope(*runtime, *context);
    EXPECT_EQ(scope.wait(), Duration::zero());
    next = std::thread([&] {
      const auto mine = runtime->EnterWorker();
      waited = ForwardScope(*runtime, *mine).wait();
    });
    while (runtime->limiter().waiting() == 0) std::this_thread::yield();
  }
  next.join();
  EXPECT_GT(waited, Duration::zero());
}

TEST_F(ForwardScopeTest, EntersInferenceMode) {
  const auto runtime = Start(ForwardMode::kParallel);
  const auto context = runtime->EnterMainThread();
  EXPECT_FALSE(c10::InferenceMode::is_enabled());
  {
    const ForwardScope scope(*runtime, *context);
    EXPECT_TRUE(c10::InferenceMode::is_enabled());
  }
  EXPECT_FALSE(c10::InferenceMode::is_enabled());
}

TEST_F(ForwardScopeTest, RefusesAContextOfAnotherThread) {
  const auto runtime = Start(ForwardMode::kParallel);
  const auto context = runtime->EnterMainThread();
  JoiningThread([&] {
    EXPECT_THROW(ForwardScope(*runtime, *context), StreamError);
    EXPECT_THROW(context->Synchronize(), StreamError);
    const auto mine = runtime->EnterWorker();
    EXPECT_THROW(ForwardScope(*runtime, *context), StreamError);
    EXPECT_NO_THROW(ForwardScope(*runtime, *mine));
  });
  EXPECT_EQ(runtime->limiter().in_use(), 0);
}

TEST_F(ForwardScopeTest, RefusesToNest) {
  for (const ForwardMode mode :
       {ForwardMode::kParallel, ForwardMode::kEncodeLock, ForwardMode::kSerial}) {
    const auto runtime = Start(mode);
    const auto context = runtime->EnterMainThread();
    const ForwardScope scope(*runtime, *context);
    EXPECT_THROW(ForwardScope(*runtime, *context), StreamError);
    EXPECT_EQ(runtime->limiter().in_use(), 1);
  }
}

TEST_F(ForwardScopeTest, RefusesAThreadWhoseCurrentStreamWasChanged) {
  const auto runtime = Start(ForwardMode::kSerial);
  const auto context = runtime->EnterMainThread();
  bound_stream.slot = 7;
  EXPECT_THROW(ForwardScope(*runtime, *context), StreamError);
  bound_stream.slot = 0;
  EXPECT_NO_THROW(ForwardScope(*runtime, *context));
}

TEST_F(ForwardScopeTest, FailedForwardKeepsItsPermitUntilTheDeviceIsIdle) {
  for (const ForwardMode mode :
       {ForwardMode::kParallel, ForwardMode::kEncodeLock, ForwardMode::kSerial}) {
    const auto runtime = Start(mode);
    const auto context = runtime->EnterMainThread();
    int permits_while_waiting = 0;
    std::function<void(Stream)> wait = [&](Stream) {
      permits_while_waiting = runtime->limiter().in_use();
    };
    on_synchronize = &wait;
    EXPECT_THROW(
        {
          const ForwardScope scope(*runtime, *context);
          throw std::runtime_error("the model failed");
        },
        std::runtime_error);
    on_synchronize = nullptr;
    EXPECT_EQ(permits_while_waiting, 1) << ToString(mode);
    EXPECT_EQ(runtime->limiter().in_use(), 0);
    EXPECT_NO_THROW(ForwardScope(*runtime, *context));
  }
}

TEST_F(ForwardScopeTest, DeviceErrorReachesTheCallerAndReleasesEverything) {
  for (const ForwardMode mode :
       {ForwardMode::kParallel, ForwardMode::kEncodeLock, ForwardMode::kSerial}) {
    const auto runtime = Start(mode, 1);
    const auto context = runtime->EnterMainThread();
    std::function<void(Stream)> fail = [](Stream) { throw DeviceError("out of memory"); };
    on_synchronize = &fail;
    EXPECT_THROW(
        {
          const ForwardScope scope(*runtime, *context);
          context->Synchronize();
        },
        DeviceError);
    on_synchronize = nullptr;
    EXPECT_NO_THROW(ForwardScope(*runtime, *context));
    EXPECT_EQ(runtime->limiter().in_use(), 0);
  }
}

TEST_F(ForwardScopeTest, LeavingAThreadWaitsForItsStream) {
  const auto runtime = Start(ForwardMode::kParallel);
  std::vector<int> waited_for;
  std::function<void(Stream)> note = [&](Stream stream) {
    waited_for.push_back(stream.slot);
    EXPECT_EQ(bound_stream, stream);
    EXPECT_EQ(runtime->stream_pool().stats().leased, 1);
  };
  on_synchronize = &note;
  JoiningThread([&] { runtime->EnterWorker(); }).join();
  on_synchronize = nullptr;
  EXPECT_EQ(waited_for, std::vector<int>{1});
}

// A worker asks for a shape of one model, as RunCached does; whether its cache may keep it.
bool WorkerMayKeep(Runtime& runtime, int64_t bucket) {
  bool may_keep = false;
  JoiningThread([&] {
    const auto context = runtime.EnterWorker();
    may_keep = context->AdmitShape({.model = "m", .entry_point = "f", .shape_bucket = bucket},
                                   [] { return "[1]"; });
  }).join();
  return may_keep;
}

TEST_F(ForwardScopeTest, FrozenRuntimeKeepsWhatTheMainThreadWarmsUpAndNothingElse) {
  RuntimeOptions options;
  options.device = DeviceType::kCuda;
  options.graph_cache_policy = GraphCachePolicy::kFrozen;
  const auto runtime = Runtime::Bootstrap(options);
  const auto context = runtime->EnterMainThread();
  EXPECT_TRUE(WorkerMayKeep(*runtime, 1));
  runtime->FinishWarmUp();
  EXPECT_TRUE(WorkerMayKeep(*runtime, 1));
  EXPECT_FALSE(WorkerMayKeep(*runtime, 2));
  // A model that is loaded now.
  EXPECT_TRUE(context->AdmitShape({.model = "m", .entry_point = "f", .shape_bucket = 2},
                                  [] { return "[2]"; }));
  EXPECT_TRUE(WorkerMayKeep(*runtime, 2));
  EXPECT_EQ(runtime->shape_stats().eager, 1U);
}

TEST_F(ForwardScopeTest, FrozenRuntimeRefusesShapesWhenToldTo) {
  RuntimeOptions options;
  options.device = DeviceType::kCuda;
  options.graph_cache_policy = GraphCachePolicy::kFrozen;
  options.new_shape = NewShape::kRefuse;
  const auto runtime = Runtime::Bootstrap(options);
  runtime->FinishWarmUp();
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    EXPECT_THROW(context->AdmitShape({.model = "m", .entry_point = "f"}, [] { return "[1]"; }),
                 ShapeRefused);
  }).join();
  EXPECT_EQ(runtime->shape_stats().refused_frozen, 1U);
}

TEST_F(ForwardScopeTest, HasAsManyWorkersAsSuitTheDeviceUnlessToldANumber) {
  RuntimeOptions options;
  options.device = DeviceType::kCuda;
  options.workers = 0;
  EXPECT_EQ(Runtime::Bootstrap(options)->workers(), 1);
  options.workers = 3;
  EXPECT_EQ(Runtime::Bootstrap(options)->workers(), 3);
}

TEST_F(ForwardScopeTest, DeviceThatCompilesNoShapesHasNoLimitOfThem) {
  RuntimeOptions options;
  options.device = DeviceType::kCuda;
  options.max_compiled_shapes = 1;
  const auto runtime = Runtime::Bootstrap(options);
  for (const int bucket : {1, 2, 3}) EXPECT_TRUE(WorkerMayKeep(*runtime, bucket));
  EXPECT_EQ(runtime->shape_stats().compiled, 0U);
}

TEST(MakeBackendAutoTest, PrefersTheAccelerator) {
  EXPECT_EQ(MakeBackend(std::nullopt)->device(), DeviceType::kCuda);
}

}  // namespace
}  // namespace millrace::runtime
