#include "models/translation/seq2seq/token_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace millrace::models {
namespace {

TEST(TokenCache, ASlotIsFreeWhenNothingFollowsItAndNobodyEndsThere) {
  TokenCache cache(4);
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
  TokenCache cache(3);
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
  TokenCache cache(1);
  const int32_t slot = cache.Append(TokenCache::kNone);
  cache.Release(slot);
  EXPECT_EQ(cache.Append(TokenCache::kNone), slot);
}

}  // namespace
}  // namespace millrace::models
