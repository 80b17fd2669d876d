// Graphs that threads share, as in a stock libtorch, and graphs of each thread's own, as in a
// patched one, on the stand-in for libtorch's MPS library. It ends the process when two threads
// encode one graph at once.
#include <ATen/ops/full.h>
#include <ATen/ops/tanh.h>
#include <gtest/gtest.h>

#include <latch>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/cached_forward.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/runtime.h"
#include "tests/fakes/mps/faults.h"
#include "tests/fakes/mps/graph_cache.h"

namespace millrace::runtime {
namespace {

using mps_standin::TheFaults;

class MpsGraphsTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  void TearDown() override {
    TheFaults().Set("patch_level=0 shared_caches=0 encode_microseconds=0");
  }
};

// An operator of the self-test on as many threads as there are permits.
class MpsOperatorTest : public MpsGraphsTest,
                        public ::testing::WithParamInterface<std::tuple<std::string, int>> {
 protected:
  static bool GivesTheNumbersOfOneThread() {
    const auto& [op, threads] = GetParam();
    return RunOperatorHere(
        {.op = op, .threads = threads, .iterations = 20, .device = DeviceType::kMps});
  }
};

TEST_P(MpsOperatorTest, SharedGraphsWorkUnderTheEncodeLock) {
  EXPECT_TRUE(GivesTheNumbersOfOneThread());
}

TEST_P(MpsOperatorTest, GraphsOfEachThreadWorkWithoutIt) {
  TheFaults().patch_level = 1;
  EXPECT_TRUE(GivesTheNumbersOfOneThread());
}

INSTANTIATE_TEST_SUITE_P(Operators, MpsOperatorTest,
                         ::testing::Combine(::testing::ValuesIn(OperatorNames()),
                                            ::testing::Values(2, 8, 31)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "On" +
                                  std::to_string(std::get<1>(info.param));
                         });

// A libtorch that claims to be patched and shares its graphs all the same.
class MpsWithoutEncodeLockTest : public MpsGraphsTest, public ::testing::WithParamInterface<int> {};

TEST_P(MpsWithoutEncodeLockTest, SharedGraphsEndTheProcess) {
  for (const char* const op : {"matmul", "conv1d"}) {
    EXPECT_DEATH(
        {
          TheFaults().Set("patch_level=1 shared_caches=1 encode_microseconds=20000");
          RunOperatorHere(
              {.op = op, .threads = GetParam(), .iterations = 20, .device = DeviceType::kMps});
        },
        "two threads encode one graph");
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, MpsWithoutEncodeLockTest, ::testing::Values(2, 8, 31),
                         ::testing::PrintToStringParamName());

RuntimeOptions GraphWorkers(int workers) {
  RuntimeOptions options;
  options.device = DeviceType::kMps;
  options.workers = workers;
  options.intra_op_threads = 1;
  return options;
}

// A forward of that many numbers through the calling thread's graph cache.
void RunShape(Runtime& runtime, WorkerContext& context, int64_t numbers) {
  const ForwardScope scope(runtime, context);
  RunCachedOnHost(context, {.model = "m/1", .entry_point = "forward", .shape_bucket = numbers},
                  {at::full({numbers}, 0.5F)}, [](const std::vector<at::Tensor>& inputs) {
                    return std::vector<at::Tensor>{at::tanh(inputs[0])};
                  });
}

std::map<int, ThreadGraphCache> CachesBySlot(const Runtime& runtime) {
  std::map<int, ThreadGraphCache> caches;
  for (const ThreadGraphCache& cache : runtime.thread_graph_caches()) caches[cache.slot] = cache;
  return caches;
}

TEST_F(MpsGraphsTest, CachesAreCountedByThreadWithAPatchedLibtorch) {
  TheFaults().patch_level = 1;
  const auto runtime = Runtime::Bootstrap(GraphWorkers(2));
  EXPECT_FALSE(runtime->shares_compiled_shapes());
  const auto main = runtime->EnterMainThread();
  RunShape(*runtime, *main, 1);
  const int64_t compiled_before = mps_standin::GraphsCompiled();
  std::latch first_done(1), read(1);
  int slot = 0;
  JoiningThread first([&] {
    const auto context = runtime->EnterWorker();
    slot = context->stream().slot;
    for (const int64_t numbers : {1, 2, 2, 2}) RunShape(*runtime, *context, numbers);
    first_done.count_down();
    read.wait();
  });
  first_done.wait();
  const auto caches = CachesBySlot(*runtime);
  const auto compiled = runtime->shape_stats().compiled;
  read.count_down();  // the thread leaves, with its cache
  ASSERT_EQ(caches.size(), 2U);
  EXPECT_EQ(caches.at(kDefaultSlot).stats.entries, 1U);
  EXPECT_EQ(caches.at(kDefaultSlot).compiled_shapes, 1U);
  EXPECT_EQ(caches.at(slot).stats.entries, 2U);
  EXPECT_EQ(caches.at(slot).stats.hits, 2U);
  EXPECT_EQ(caches.at(slot).stats.misses, 2U);
  EXPECT_EQ(caches.at(slot).compiled_shapes, 2U);
  // The main thread's graph of the first shape served nobody else.
  EXPECT_EQ(mps_standin::GraphsCompiled() - compiled_before, 2);
  EXPECT_EQ(compiled, 3U);
  first.join();
  EXPECT_EQ(CachesBySlot(*runtime).size(), 1U);
  EXPECT_EQ(runtime->shape_stats().compiled, 1U);
}

TEST_F(MpsGraphsTest, CachesAreCountedForAllThreadsWithAStockLibtorch) {
  const auto runtime = Runtime::Bootstrap(GraphWorkers(2));
  EXPECT_TRUE(runtime->shares_compiled_shapes());
  const auto main = runtime->EnterMainThread();
  RunShape(*runtime, *main, 1);
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    for (const int64_t numbers : {1, 2}) RunShape(*runtime, *context, numbers);
  }).join();
  EXPECT_TRUE(runtime->thread_graph_caches().empty());
  EXPECT_EQ(runtime->shape_stats().compiled, 2U);
}

TEST_F(MpsGraphsTest, EachThreadOfAPatchedLibtorchHasTheLimitOfShapes) {
  TheFaults().patch_level = 1;
  RuntimeOptions options = GraphWorkers(2);
  options.max_compiled_shapes = 2;
  const auto runtime = Runtime::Bootstrap(options);
  const auto main = runtime->EnterMainThread();
  for (const int64_t numbers : {1, 2}) RunShape(*runtime, *main, numbers);
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    for (const int64_t numbers : {3, 4}) RunShape(*runtime, *context, numbers);
    EXPECT_THROW(RunShape(*runtime, *context, 1), ShapeRefused);
  }).join();
  // The next thread on that stream begins with an empty cache.
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    RunShape(*runtime, *context, 1);
  }).join();
  EXPECT_EQ(runtime->shape_stats().refused_limit, 1U);
}

TEST_F(MpsGraphsTest, FrozenThreadsOfAPatchedLibtorchCompileWhatTheMainThreadWarmsUpLater) {
  TheFaults().patch_level = 1;
  RuntimeOptions options = GraphWorkers(2);
  options.graph_cache_policy = GraphCachePolicy::kFrozen;
  options.new_shape = NewShape::kRefuse;
  const auto runtime = Runtime::Bootstrap(options);
  runtime->FinishWarmUp();
  const auto main = runtime->EnterMainThread();
  RunShape(*runtime, *main, 1);
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    RunShape(*runtime, *context, 1);
    EXPECT_THROW(RunShape(*runtime, *context, 2), ShapeRefused);
    EXPECT_EQ(CachesBySlot(*runtime).at(context->stream().slot).compiled_shapes, 1U);
  }).join();
  EXPECT_EQ(runtime->shape_stats().refused_frozen, 1U);
}

}  // namespace
}  // namespace millrace::runtime
