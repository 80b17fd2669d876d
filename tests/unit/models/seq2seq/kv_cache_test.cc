#include "models/seq2seq/kv_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace millrace::seq2seq {
namespace {

TEST(KvCacheTest, ASlotIsFreeWhenNothingFollowsItAndNobodyEndsThere) {
  KvBlockPool pool(4 * KvCache::kBlockSlots, 1);
  KvCache cache(pool, 4);
  const int32_t first = cache.Append(KvCache::kNone);
  cache.Hold(first);  // two hypotheses end there
  const int32_t left = cache.Append(first);
  const int32_t right = cache.Append(first);
  EXPECT_EQ(cache.used(), 3u);
  cache.Release(left);
  EXPECT_EQ(cache.used(), 2u);
  cache.Release(right);
  EXPECT_EQ(cache.used(), 0u);
}

TEST(KvCacheTest, FloatsStayWhereTheyAreWhileTheCacheGrows) {
  KvBlockPool pool(3 * KvCache::kBlockSlots, 1);
  KvCache cache(pool, 3);
  const int32_t first = cache.Append(KvCache::kNone);
  float* floats = cache.floats(first);
  floats[0] = 1;
  floats[2] = 2;
  int32_t last = first;
  for (int i = 0; i < 1000; ++i) {
    last = cache.Append(last);
    cache.floats(last)[0] = -1;
    cache.floats(last)[2] = -1;
  }
  EXPECT_EQ(cache.floats(first), floats);
  EXPECT_EQ(floats[0], 1);
  EXPECT_EQ(floats[2], 2);
  EXPECT_EQ(cache.used(), 1001u);
  cache.Release(last);
  EXPECT_EQ(cache.used(), 0u);
}

TEST(KvCacheTest, FreeSlotsAreUsedAgain) {
  KvBlockPool pool(KvCache::kBlockSlots, 1);
  KvCache cache(pool, 1);
  const int32_t slot = cache.Append(KvCache::kNone);
  cache.Release(slot);
  EXPECT_EQ(cache.Append(KvCache::kNone), slot);
}

TEST(KvCacheTest, TheNextCacheTakesTheBlocksOfTheLast) {
  KvBlockPool pool(KvCache::kBlockSlots, 1);
  const float* floats = nullptr;
  {
    KvCache cache(pool, 1);
    floats = cache.floats(cache.Append(KvCache::kNone));
  }
  KvCache cache(pool, 1);
  EXPECT_EQ(cache.floats(cache.Append(KvCache::kNone)), floats);
}

TEST(KvBlockPoolTest, KeepsNoMoreFreeOnesThanItMay) {
  KvBlockPool pool(8, 2);
  std::vector<kernels::AlignedBuffer<float>> taken;
  for (int i = 0; i < 5; ++i) taken.push_back(pool.Take());
  pool.Give(std::move(taken));
  EXPECT_EQ(pool.free(), 2u);
}

}  // namespace
}  // namespace millrace::seq2seq
