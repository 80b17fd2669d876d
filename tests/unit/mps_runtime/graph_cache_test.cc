#include "mps_runtime/graph_cache.h"

#include <gtest/gtest.h>

#include <atomic>

#include "mps_runtime/base/joining_thread.h"

namespace millrace::runtime {
namespace {

class Entry final : public GraphEntry {
 public:
  explicit Entry(size_t bytes, int* alive = nullptr) : bytes_(bytes), alive_(alive) {
    if (alive_ != nullptr) ++*alive_;
  }
  ~Entry() override {
    if (alive_ != nullptr) --*alive_;
  }
  size_t SizeBytes() const override { return bytes_; }

 private:
  const size_t bytes_;
  int* const alive_;
};

GraphKey Key(int64_t bucket, const std::string& model = "m") {
  return {model, "encode", bucket, 6};
}

std::unique_ptr<Entry> Of(size_t bytes, int* alive = nullptr) {
  return std::make_unique<Entry>(bytes, alive);
}

TEST(GraphCacheTest, FindsWhatWasInserted) {
  GraphCache cache({});
  EXPECT_EQ(cache.Find(Key(1)), nullptr);
  GraphEntry* const entry = cache.Insert(Key(1), Of(10));
  EXPECT_EQ(cache.Find(Key(1)), entry);
  const GraphCacheStats stats = cache.stats();
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.entries, 1u);
  EXPECT_EQ(stats.bytes, 10u);
}

TEST(GraphCacheTest, EveryPartOfTheKeyCounts) {
  GraphCache cache({});
  const GraphKey key{"m", "encode", 64, 6};
  cache.Insert(key, Of(1));
  for (const GraphKey& other : {GraphKey{"n", "encode", 64, 6}, GraphKey{"m", "step", 64, 6},
                                GraphKey{"m", "encode", 65, 6}, GraphKey{"m", "encode", 64, 5}}) {
    EXPECT_EQ(cache.Find(other), nullptr);
  }
  EXPECT_NE(cache.Find(key), nullptr);
}

TEST(GraphCacheTest, EvictsTheLeastRecentlyUsed) {
  GraphCache cache({.max_entries = 2, .max_bytes = 100});
  cache.Insert(Key(1), Of(1));
  cache.Insert(Key(2), Of(1));
  cache.Find(Key(1));
  cache.Insert(Key(3), Of(1));
  EXPECT_NE(cache.Find(Key(1)), nullptr);
  EXPECT_EQ(cache.Find(Key(2)), nullptr);
  EXPECT_NE(cache.Find(Key(3)), nullptr);
  EXPECT_EQ(cache.stats().evictions, 1u);
}

TEST(GraphCacheTest, EvictsUntilTheBytesFit) {
  int alive = 0;
  GraphCache cache({.max_entries = 100, .max_bytes = 100});
  for (int64_t i = 0; i < 4; ++i) cache.Insert(Key(i), Of(25, &alive));
  EXPECT_EQ(alive, 4);
  cache.Insert(Key(9), Of(60, &alive));
  EXPECT_EQ(alive, 2);  // one of 25 and the one of 60
  EXPECT_EQ(cache.stats().bytes, 85u);
  EXPECT_EQ(cache.stats().evictions, 3u);
}

TEST(GraphCacheTest, KeepsAnEntryOfExactlyTheLimit) {
  GraphCache cache({.max_entries = 1, .max_bytes = 100});
  EXPECT_NE(cache.Insert(Key(1), Of(100)), nullptr);
}

TEST(GraphCacheTest, RefusesWhatCanNeverFitAndKeepsTheRest) {
  int alive = 0;
  GraphCache cache({.max_entries = 10, .max_bytes = 100});
  cache.Insert(Key(1), Of(50));
  EXPECT_EQ(cache.Insert(Key(2), Of(101, &alive)), nullptr);
  EXPECT_EQ(alive, 0);
  EXPECT_NE(cache.Find(Key(1)), nullptr);
  EXPECT_EQ(cache.stats().evictions, 0u);
}

TEST(GraphCacheTest, NoEntriesAllowedMeansNone) {
  GraphCache cache({.max_entries = 0, .max_bytes = 100});
  EXPECT_EQ(cache.Insert(Key(1), Of(1)), nullptr);
  EXPECT_EQ(cache.stats().entries, 0u);
}

TEST(GraphCacheTest, SameKeyReplaces) {
  int alive = 0;
  GraphCache cache({});
  cache.Insert(Key(1), Of(10, &alive));
  GraphEntry* const second = cache.Insert(Key(1), Of(20, &alive));
  EXPECT_EQ(cache.Find(Key(1)), second);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(cache.stats().bytes, 20u);
  EXPECT_EQ(cache.stats().evictions, 0u);
}

TEST(GraphCacheTest, ClearDropsEverything) {
  int alive = 0;
  GraphCache cache({});
  cache.Insert(Key(1), Of(1, &alive));
  cache.Clear();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(cache.stats().entries, 0u);
  EXPECT_EQ(cache.stats().bytes, 0u);
  EXPECT_EQ(cache.Find(Key(1)), nullptr);
}

// The metrics thread reads while the owner works.
TEST(GraphCacheTest, StatsMayBeReadFromAnotherThread) {
  constexpr uint64_t kFinds = 20000;
  GraphCache cache({.max_entries = 8, .max_bytes = 1000});
  std::atomic<bool> done{false};
  JoiningThread reader([&] {
    uint64_t last = 0;
    while (!done) {
      const GraphCacheStats stats = cache.stats();
      EXPECT_GE(stats.misses + stats.hits, last);
      EXPECT_LE(stats.entries, 8u);
      last = stats.misses + stats.hits;
    }
  });
  for (uint64_t i = 0; i < kFinds; ++i) {
    const GraphKey key = Key(static_cast<int64_t>(i % 16));
    if (cache.Find(key) == nullptr) cache.Insert(key, Of(1));
  }
  done = true;
  reader.join();
  const GraphCacheStats stats = cache.stats();
  EXPECT_EQ(stats.hits + stats.misses, kFinds);
  EXPECT_EQ(stats.evictions, stats.misses - 8);
}

}  // namespace
}  // namespace millrace::runtime
