#include "mps_runtime/shape_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "mps_runtime/errors.h"
#include "tests/fakes/at_once.h"

namespace millrace::runtime {
namespace {

constexpr int kMain = kDefaultSlot;
constexpr int kWorker = 1;
constexpr int kOtherWorker = 2;

bool Admit(ShapeRegistry& registry, int64_t width, int slot = kWorker,
           const std::string& model = "m/1") {
  return registry.Admit({.model = model, .entry_point = "forward", .shape_bucket = width}, slot,
                        [width] { return "[1, " + std::to_string(width) + "]"; });
}

std::string Refusal(ShapeRegistry& registry, int64_t width, int slot = kWorker) {
  try {
    Admit(registry, width, slot);
  } catch (const ShapeRefused& refusal) {
    return refusal.what();
  }
  return "";
}

TEST(ShapeRegistryTest, GrowingCachesTakeWhatComes) {
  ShapeRegistry registry({});
  registry.Freeze();
  for (int width = 0; width < 1000; ++width) EXPECT_TRUE(Admit(registry, width));
  EXPECT_EQ(registry.stats().compiled, 0U);
}

TEST(ShapeRegistryTest, FrozenTakesOnlyWhatWasWarmedUp) {
  ShapeRegistry registry({.policy = GraphCachePolicy::kFrozen});
  EXPECT_TRUE(Admit(registry, 1, kMain));
  EXPECT_TRUE(Admit(registry, 2, kWorker));
  registry.Freeze();
  EXPECT_TRUE(Admit(registry, 1));
  EXPECT_TRUE(Admit(registry, 2));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Admit(registry, 3));
  EXPECT_FALSE(Admit(registry, 1, kWorker, "m/2"));
  EXPECT_EQ(registry.stats().eager, 4U);
  EXPECT_EQ(registry.stats().refused_frozen, 0U);
}

TEST(ShapeRegistryTest, InstancesOfAModelShareItsShapes) {
  ShapeRegistry registry({.policy = GraphCachePolicy::kFrozen, .max_compiled = 1});
  const auto admit = [&](uint64_t instance, int slot) {
    return registry.Admit({.model = "m/1", .entry_point = "forward", .instance = instance}, slot,
                          [] { return "[1]"; });
  };
  EXPECT_TRUE(admit(1, kMain));
  registry.Freeze();
  EXPECT_TRUE(admit(2, kMain));
  EXPECT_TRUE(admit(2, kWorker));
  EXPECT_EQ(registry.stats().compiled, 1U);
}

TEST(ShapeRegistryTest, FrozenTakesWhatTheMainThreadWarmsUpLater) {
  ShapeRegistry registry({.policy = GraphCachePolicy::kFrozen, .new_shape = NewShape::kRefuse});
  registry.Freeze();
  EXPECT_NE(Refusal(registry, 1), "");
  EXPECT_TRUE(Admit(registry, 1, kMain));
  EXPECT_TRUE(Admit(registry, 1, kWorker));
  EXPECT_NE(Refusal(registry, 2), "");
  EXPECT_EQ(registry.stats().refused_frozen, 2U);
}

TEST(ShapeRegistryTest, RefusalListsTheShapesOfThatModel) {
  ShapeRegistry registry({.policy = GraphCachePolicy::kFrozen, .new_shape = NewShape::kRefuse});
  for (int width = 10; width < 20; ++width) Admit(registry, width);
  Admit(registry, 5, kWorker, "other/1");
  registry.Freeze();
  EXPECT_EQ(Refusal(registry, 20),
            "model 'm/1': inputs of shape [1, 20] are new to forward and the graph cache is "
            "frozen; allowed are [1, 10] or [1, 11] or [1, 12] or [1, 13] or [1, 14] or [1, 15] or "
            "[1, 16] or [1, 17] or one of 2 more");
}

TEST(ShapeRegistryTest, ShapesBeyondTheLimitAreRefusedOnEveryThread) {
  ShapeRegistry registry({.max_compiled = 2});
  EXPECT_TRUE(Admit(registry, 1, kMain));
  EXPECT_TRUE(Admit(registry, 2));
  EXPECT_EQ(Refusal(registry, 3),
            "model 'm/1': inputs of shape [1, 3] are new to forward and the device has compiled 2 "
            "shapes, as many as graph_cache_entries allows; allowed are [1, 1] or [1, 2]");
  EXPECT_NE(Refusal(registry, 3, kMain), "");
  EXPECT_TRUE(Admit(registry, 1));
  EXPECT_TRUE(Admit(registry, 2, kMain));
  EXPECT_EQ(registry.stats().compiled, 2U);
  EXPECT_EQ(registry.stats().refused_limit, 2U);
}

TEST(ShapeRegistryTest, FrozenDeviceThatCompilesCountsEagerShapesToo) {
  ShapeRegistry registry({.policy = GraphCachePolicy::kFrozen, .max_compiled = 2});
  EXPECT_TRUE(Admit(registry, 1));
  registry.Freeze();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Admit(registry, 2));
  EXPECT_NE(Refusal(registry, 3), "");
  EXPECT_EQ(registry.stats().compiled, 2U);
  EXPECT_EQ(registry.stats().eager, 3U);
  EXPECT_EQ(registry.stats().refused_limit, 1U);
  EXPECT_TRUE(Admit(registry, 2, kMain));  // compiled already; now a warm-up ran it
  EXPECT_TRUE(Admit(registry, 2));
}

TEST(ShapeRegistryTest, EachThreadThatCompilesOnItsOwnHasTheLimit) {
  ShapeRegistry registry({.max_compiled = 2, .by_thread = true});
  EXPECT_TRUE(Admit(registry, 1, kMain));
  for (const int worker : {kWorker, kOtherWorker}) {
    EXPECT_TRUE(Admit(registry, worker, worker));
    EXPECT_TRUE(Admit(registry, 10, worker));
  }
  EXPECT_EQ(Refusal(registry, 1, kOtherWorker),
            "model 'm/1': inputs of shape [1, 1] are new to forward and this worker's graph cache "
            "holds 2 shapes, as many as graph_cache_entries allows; allowed are [1, 10] or [1, 2]");
  EXPECT_TRUE(Admit(registry, 2, kMain));
  EXPECT_TRUE(Admit(registry, 10, kWorker));
  EXPECT_EQ(registry.stats().refused_limit, 1U);
  EXPECT_EQ(registry.stats().compiled, 6U);
  const auto by_slot = registry.CompiledBySlot();
  EXPECT_EQ(by_slot[kMain], 2U);
  EXPECT_EQ(by_slot[kWorker], 2U);
  EXPECT_EQ(by_slot[kOtherWorker], 2U);
  EXPECT_EQ(by_slot[3], 0U);
}

TEST(ShapeRegistryTest, FrozenCachesOfThreadsThatCompileOnTheirOwnTakeWhatAnyWarmUpRan) {
  ShapeRegistry registry(
      {.policy = GraphCachePolicy::kFrozen, .max_compiled = 3, .by_thread = true});
  EXPECT_TRUE(Admit(registry, 1, kMain));
  EXPECT_TRUE(Admit(registry, 1, kWorker));
  registry.Freeze();
  EXPECT_TRUE(Admit(registry, 1, kOtherWorker));
  EXPECT_FALSE(Admit(registry, 2, kWorker));
  EXPECT_TRUE(Admit(registry, 3, kMain));  // a model that is loaded later
  EXPECT_TRUE(Admit(registry, 3, kOtherWorker));
  EXPECT_FALSE(Admit(registry, 2, kOtherWorker));
  EXPECT_EQ(registry.stats().eager, 2U);
  const auto by_slot = registry.CompiledBySlot();
  EXPECT_EQ(by_slot[kMain], 2U);
  EXPECT_EQ(by_slot[kWorker], 2U);
  EXPECT_EQ(by_slot[kOtherWorker], 3U);
}

TEST(ShapeRegistryTest, WhatAThreadCompiledOnItsOwnEndsWithIt) {
  for (const bool by_thread : {false, true}) {
    ShapeRegistry registry({.max_compiled = 1, .by_thread = by_thread});
    EXPECT_TRUE(Admit(registry, 1));
    registry.Forget(kWorker);
    EXPECT_EQ(registry.stats().compiled, by_thread ? 0U : 1U);
    EXPECT_EQ(Refusal(registry, 2).empty(), by_thread);
  }
}

TEST(ShapeRegistryTest, ThreadsTogetherStayWithinTheLimit) {
  constexpr int kThreads = 8;
  constexpr int kShapes = 400;
  constexpr size_t kLimit = 100;
  ShapeRegistry registry({.max_compiled = kLimit});
  std::atomic<int> refused{0};
  testing::AtOnce(kThreads, [&] {
    for (int width = 0; width < kShapes; ++width) refused += !Refusal(registry, width).empty();
  });
  EXPECT_EQ(registry.stats().compiled, kLimit);
  EXPECT_EQ(refused, kThreads * (kShapes - static_cast<int>(kLimit)));
  EXPECT_EQ(registry.stats().refused_limit, static_cast<uint64_t>(refused));
}

}  // namespace
}  // namespace millrace::runtime
