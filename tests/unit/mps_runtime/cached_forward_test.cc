#include "mps_runtime/cached_forward.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "mps_runtime/errors.h"
#include "mps_runtime/shape_registry.h"

namespace millrace::runtime {
namespace {

// A thread of an accelerator whose records only count how often they are replayed: what they would
// write into the outputs is the device's part.
class RecordingContext final : public WorkerContext {
 public:
  explicit RecordingContext(GraphCache::Limits limits = {}, NewShape new_shape = NewShape::kEager)
      : registry({.policy = GraphCachePolicy::kFrozen, .new_shape = new_shape}), cache_(limits) {}

  Stream stream() const override { return {DeviceType::kCuda, 1}; }
  GraphCache& graph_cache() override { return cache_; }
  void Synchronize() override {}
  std::unique_ptr<DeviceGraph> Capture(const std::function<void()>& submit) override {
    ++captures;
    if (refuses) throw std::runtime_error("operation not permitted when stream is capturing");
    if (records_nothing) return nullptr;
    submit();
    return std::make_unique<Graph>(*this);
  }
  bool AdmitShape(const GraphKey& key, const std::function<std::string()>& shapes) override {
    return registry.Admit(key, stream().slot, shapes);
  }

  ShapeRegistry registry;

  int captures = 0, replays = 0, graphs = 0;
  bool refuses = false, records_nothing = false;

 private:
  class Graph final : public DeviceGraph {
   public:
    explicit Graph(RecordingContext& context) : context_(context) { ++context_.graphs; }
    ~Graph() override { --context_.graphs; }
    void Replay() override { ++context_.replays; }
    size_t SizeBytes() const override { return 1000; }

   private:
    RecordingContext& context_;
  };

  GraphCache cache_;
};

class CachedForwardTest : public ::testing::Test {
 protected:
  at::Tensor Run(WorkerContext& context, double value, int64_t bucket = 1) {
    const at::Tensor input = at::full({4}, value);
    return RunCached(context, {.model = "m", .entry_point = "step", .shape_bucket = bucket},
                     {input}, [this](const std::vector<at::Tensor>& inputs) {
                       ++runs_;
                       last_input_ = inputs[0];
                       return std::vector<at::Tensor>{inputs[0] + 1};
                     })[0];
  }

  const c10::InferenceMode inference_;
  RecordingContext context_;
  at::Tensor last_input_;
  int runs_ = 0;
};

TEST_F(CachedForwardTest, FirstRunIsEager) {
  EXPECT_TRUE(at::equal(Run(context_, 1), at::full({4}, 2.0)));
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(context_.captures, 0);
}

TEST_F(CachedForwardTest, SecondRunIsEagerAndRecorded) {
  Run(context_, 1);
  EXPECT_TRUE(at::equal(Run(context_, 2), at::full({4}, 3.0)));
  EXPECT_EQ(runs_, 3);  // the last one to be recorded
  EXPECT_EQ(context_.captures, 1);
  EXPECT_EQ(context_.replays, 0);
  EXPECT_EQ(context_.graph_cache().stats().entries, 1U);
  EXPECT_EQ(context_.graph_cache().stats().bytes, 1000U + 4 * sizeof(float));
}

TEST_F(CachedForwardTest, LaterRunsReplayOnTheRecordsOwnBuffers) {
  Run(context_, 1);
  Run(context_, 2);
  const at::Tensor recorded = last_input_;
  Run(context_, 7);
  EXPECT_EQ(runs_, 3);
  EXPECT_EQ(context_.replays, 1);
  EXPECT_TRUE(at::equal(recorded, at::full({4}, 7.0)));
}

TEST_F(CachedForwardTest, OtherShapesUnderTheSameKeyRunEagerly) {
  for (int i = 0; i < 3; ++i) Run(context_, 1);
  const at::Tensor wide = at::full({8}, 5.0);
  const auto outputs =
      RunCached(context_, {.model = "m", .entry_point = "step", .shape_bucket = 1}, {wide},
                [](const std::vector<at::Tensor>& inputs) { return inputs; });
  EXPECT_TRUE(at::equal(outputs[0], wide));
  EXPECT_EQ(context_.replays, 1);
  Run(context_, 1);
  EXPECT_EQ(context_.replays, 2);  // the record is still there
}

TEST_F(CachedForwardTest, EachKeyHasItsOwnRecord) {
  for (const int64_t bucket : {1, 1, 2, 2}) Run(context_, 1, bucket);
  EXPECT_EQ(context_.captures, 2);
  EXPECT_EQ(context_.graphs, 2);
}

// A model that is loaded again under the same name has other weights.
TEST_F(CachedForwardTest, EachInstanceOfAModelHasItsOwnRecord) {
  for (const uint64_t instance : {NextInstance(), NextInstance()}) {
    for (int i = 0; i < 3; ++i) {
      const int replays = context_.replays;
      RunCached(context_, {.model = "m", .entry_point = "step", .instance = instance},
                {at::full({4}, 1.0)}, [](const std::vector<at::Tensor>& inputs) { return inputs; });
      EXPECT_EQ(context_.replays - replays, i < 2 ? 0 : 1);
    }
  }
  EXPECT_EQ(context_.captures, 2);
}

TEST_F(CachedForwardTest, EvictedRecordsAreGoneAndMadeAgain) {
  RecordingContext context({.max_entries = 1, .max_bytes = 1 << 20});
  for (const int64_t bucket : {1, 1, 2, 2}) Run(context, 1, bucket);
  EXPECT_EQ(context.graphs, 1);
  for (const int64_t bucket : {1, 1}) Run(context, 1, bucket);
  EXPECT_EQ(context.captures, 3);
}

TEST_F(CachedForwardTest, RecordLargerThanTheCacheIsNotKept) {
  RecordingContext context({.max_entries = 8, .max_bytes = 10});
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(at::equal(Run(context, 1), at::full({4}, 2.0)));
  EXPECT_EQ(context.graphs, 0);
  for (int i = 0; i < 4; ++i) Run(context, 1);
  EXPECT_EQ(context.captures, 1);  // nor tried again
}

TEST_F(CachedForwardTest, WhatCannotBeRecordedRunsEagerlyAndIsNotTriedAgain) {
  for (const bool refuses : {true, false}) {
    RecordingContext context;
    context.refuses = refuses;
    context.records_nothing = true;
    for (const double value : {1, 2, 3})
      EXPECT_TRUE(at::equal(Run(context, value), at::full({4}, value + 1)));
    EXPECT_EQ(context.captures, 1);
    EXPECT_EQ(context.replays, 0);
  }
}

TEST_F(CachedForwardTest, ForwardMayUseTheCacheItself) {
  RecordingContext context({.max_entries = 1, .max_bytes = 1 << 20});
  for (int i = 0; i < 4; ++i) {
    const auto outputs =
        RunCached(context, {.model = "outer", .entry_point = "f"}, {at::full({4}, 1.0)},
                  [&](const std::vector<at::Tensor>& inputs) {
                    return std::vector<at::Tensor>{inputs[0] + Run(context, 1)};
                  });
    EXPECT_TRUE(at::equal(outputs[0], at::full({4}, 3.0)));
  }
}

TEST_F(CachedForwardTest, FrozenCacheRunsNewShapesEagerlyAndStaysAsItIs) {
  RecordingContext context({.max_entries = 1, .max_bytes = 1 << 20});
  for (int i = 0; i < 3; ++i) Run(context, 1);
  context.registry.Freeze();
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(at::equal(Run(context, i, /*bucket=*/2), at::full({4}, i + 1.0)));
  EXPECT_EQ(context.captures, 1);
  EXPECT_EQ(context.graph_cache().stats().evictions, 0U);
  EXPECT_EQ(context.registry.stats().eager, 4U);
  Run(context, 1);
  EXPECT_EQ(context.replays, 2);  // the shape that was warmed up still has its record
  EXPECT_EQ(context.registry.stats().eager, 4U);
}

TEST_F(CachedForwardTest, FrozenCacheThatRefusesDoesNotRunTheForward) {
  RecordingContext context({}, NewShape::kRefuse);
  for (int i = 0; i < 3; ++i) Run(context, 1);
  context.registry.Freeze();
  const int runs = runs_;
  try {
    Run(context, 1, /*bucket=*/2);
    FAIL() << "not refused";
  } catch (const ShapeRefused& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "model 'm': inputs of shape [4] are new to step and the graph cache is frozen; "
                 "allowed are [4]");
  }
  EXPECT_EQ(runs_, runs);
  Run(context, 1);
  EXPECT_EQ(context.replays, 2);
}

TEST_F(CachedForwardTest, FrozenCacheRecordsWarmShapesAgainAfterItWasEmptied) {
  RecordingContext context({}, NewShape::kRefuse);
  for (int i = 0; i < 2; ++i) Run(context, 1);
  context.registry.Freeze();
  context.graph_cache().Clear();  // as for want of memory
  for (int i = 0; i < 3; ++i) Run(context, 1);
  EXPECT_EQ(context.captures, 2);
  EXPECT_EQ(context.replays, 1);
}

TEST_F(CachedForwardTest, RefusalNamesTheShapesOfAllInputs) {
  RecordingContext context({}, NewShape::kRefuse);
  context.registry.Freeze();
  try {
    RunCached(context, {.model = "m/1", .entry_point = "forward"},
              {at::full({2, 3}, 1.0), at::full({1}, 1.0)},
              [](const std::vector<at::Tensor>& inputs) { return inputs; });
    FAIL() << "not refused";
  } catch (const ShapeRefused& refusal) {
    const std::string message = refusal.what();
    EXPECT_NE(message.find("model 'm/1'"), message.npos) << message;
    EXPECT_NE(message.find("([2, 3], [1])"), message.npos) << message;
    EXPECT_NE(message.find("allowed are none"), message.npos) << message;
  }
}

TEST_F(CachedForwardTest, FailureOfTheForwardIsTheCallers) {
  EXPECT_THROW(RunCached(context_, {.model = "m", .entry_point = "f"}, {},
                         [](const std::vector<at::Tensor>&) -> std::vector<at::Tensor> {
                           throw std::runtime_error("bad input");
                         }),
               std::runtime_error);
  EXPECT_EQ(context_.graph_cache().stats().entries, 0U);
}

}  // namespace
}  // namespace millrace::runtime
