#include "models/seq2seq/token_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace millrace::seq2seq {
namespace {

TEST(TokenCache, ASlotIsFreeWhenNothingFollowsItAndNobodyEndsThere) {
  CacheBlocks blocks(4 * TokenCache::kBlockSlots, 1);
  TokenCache cache(blocks, 4);
  const int32_t first = cache.Append(TokenCache::kNone);
  cache.Hold(first);  // two hypotheses end there
  const int32_t left = cache.Append(first);
  const int32_t right = cache.Append(first);
  EXPECT_EQ(cache.used(), 3u);
  cache.Release(left);
  EXPECT_EQ(cache.used(), 2u);
  cache.Release(right);
  EXPECT_EQ(cache.used(), 0u);
}

TEST(TokenCache, FloatsStayWhereTheyAreWhileTheCacheGrows) {
  CacheBlocks blocks(3 * TokenCache::kBlockSlots, 1);
  TokenCache cache(blocks, 3);
  const int32_t first = cache.Append(TokenCache::kNone);
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

TEST(TokenCache, FreeSlotsAreUsedAgain) {
  CacheBlocks blocks(TokenCache::kBlockSlots, 1);
  TokenCache cache(blocks, 1);
  const int32_t slot = cache.Append(TokenCache::kNone);
  cache.Release(slot);
  EXPECT_EQ(cache.Append(TokenCache::kNone), slot);
}

TEST(TokenCache, TheNextCacheTakesTheBlocksOfTheLast) {
  CacheBlocks blocks(TokenCache::kBlockSlots, 1);
  const float* floats = nullptr;
  {
    TokenCache cache(blocks, 1);
    floats = cache.floats(cache.Append(TokenCache::kNone));
  }
  TokenCache cache(blocks, 1);
  EXPECT_EQ(cache.floats(cache.Append(TokenCache::kNone)), floats);
}

TEST(CacheBlocks, KeepsNoMoreFreeOnesThanItMay) {
  CacheBlocks blocks(8, 2);
  std::vector<kernels::AlignedBuffer<float>> taken;
  for (int i = 0; i < 5; ++i) taken.push_back(blocks.Take());
  blocks.Give(std::move(taken));
  EXPECT_EQ(blocks.free(), 2u);
}

}  // namespace
}  // namespace millrace::seq2seq
