#include "mps_runtime/cached_forward.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace millrace::runtime {
namespace {

// A thread of an accelerator whose records only count how often they are replayed: what they would
// write into the outputs is the device's part.
class RecordingContext final : public WorkerContext {
 public:
  explicit RecordingContext(GraphCache::Limits limits = {}) : cache_(limits) {}

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
