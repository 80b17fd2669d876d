#include "models/core/lru_cache.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "tests/fakes/at_once.h"

namespace millrace::models {
namespace {

constexpr LruLimits kAmple = {uint64_t{1} << 20, 1000};
constexpr size_t kOverhead = 256;  // an entry's

std::string KeyOf(int number) { return "key " + std::to_string(number); }

TEST(LruCacheTest, GivesBackWhatItWasGiven) {
  LruCache<std::string, 4> cache(kAmple);
  EXPECT_EQ(cache.Find("one"), nullptr);
  cache.Insert("one", "1", 1);
  cache.Insert("two", "2", 1);
  const std::shared_ptr<const std::string> one = cache.Find("one");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(*one, "1");
  EXPECT_EQ(*cache.Find("two"), "2");
  const LruStats stats = cache.stats();
  EXPECT_EQ(stats.hits, 2u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.entries, 2u);
  EXPECT_EQ(stats.bytes, 2 * (kOverhead + 3 + 1));
}

TEST(LruCacheTest, TheFirstValueOfAKeyStays) {
  LruCache<std::string, 4> cache(kAmple);
  cache.Insert("key", "first", 5);
  const LruStats before = cache.stats();
  cache.Insert("key", "second", 6);
  EXPECT_EQ(*cache.Find("key"), "first");
  EXPECT_EQ(cache.stats().entries, 1u);
  EXPECT_EQ(cache.stats().bytes, before.bytes);
}

TEST(LruCacheTest, KeepsWithinItsLimits) {
  for (const LruLimits limits : {LruLimits{64 << 10, 1'000'000}, {uint64_t{1} << 30, 64}}) {
    LruCache<int, 4> cache(limits);
    for (int i = 0; i < 5000; ++i) cache.Insert(KeyOf(i), i, 100);
    const LruStats stats = cache.stats();
    EXPECT_LE(stats.bytes, limits.max_bytes);
    EXPECT_LE(stats.entries, limits.max_entries);
    EXPECT_GT(stats.entries, 40u);
    EXPECT_EQ(stats.entries + stats.evictions, 5000u);
  }
}

TEST(LruCacheTest, ForgetsWhatWasNotUsedForLongest) {
  LruCache<int, 1> cache({uint64_t{1} << 20, 3});
  for (const int i : {1, 2, 3}) cache.Insert(KeyOf(i), i, 1);
  EXPECT_NE(cache.Find(KeyOf(1)), nullptr);
  cache.Insert(KeyOf(4), 4, 1);
  EXPECT_EQ(cache.Find(KeyOf(2)), nullptr);
  for (const int i : {1, 3, 4}) EXPECT_NE(cache.Find(KeyOf(i)), nullptr) << i;
}

TEST(LruCacheTest, AValueOutlivesItsEviction) {
  LruCache<std::string, 1> cache({uint64_t{1} << 20, 1});
  cache.Insert("one", "1", 1);
  const std::shared_ptr<const std::string> one = cache.Find("one");
  cache.Insert("two", "2", 1);
  EXPECT_EQ(cache.Find("one"), nullptr);
  EXPECT_EQ(*one, "1");
}

TEST(LruCacheTest, AValueMayTakeAShardsPartOfTheBytes) {
  LruCache<int, 4> cache({16 << 10, 1000});
  const size_t most = (4 << 10) - kOverhead - 3;
  EXPECT_TRUE(cache.HasRoomFor(most, 3));
  EXPECT_FALSE(cache.HasRoomFor(most + 1, 3));
  EXPECT_FALSE(cache.HasRoomFor(std::numeric_limits<uint64_t>::max(), 3));
  cache.Insert("big", 1, most + 1);
  EXPECT_EQ(cache.stats().entries, 0u);
  cache.Insert("big", 2, most);
  EXPECT_EQ(*cache.Find("big"), 2);
}

TEST(LruCacheTest, WithoutRoomItIsOff) {
  for (const LruLimits limits : {LruLimits{0, 1000}, {uint64_t{1} << 20, 0}, {3, 1000}}) {
    LruCache<int, 4> cache(limits);
    EXPECT_FALSE(cache.on());
    EXPECT_FALSE(cache.HasRoomFor(0, 1));
    cache.Insert("one", 1, 1);
    EXPECT_EQ(cache.stats().entries, 0u);
  }
  const LruCache<int, 4> all({uint64_t{1} << 20, std::numeric_limits<size_t>::max()});
  EXPECT_TRUE(all.on());
  EXPECT_TRUE(all.HasRoomFor(1, 1));
}

TEST(LruCacheTest, ManyThreadsFindOnlyWhatIsTheirs) {
  constexpr int kThreads = 4;
  LruCache<int, 4> cache({64 << 10, 200});
  testing::AtOnce(kThreads, [&] {
    for (int i = 0; i < 5000; ++i) {
      const int number = i * 7 % 400;
      const std::shared_ptr<const int> known = cache.Find(KeyOf(number));
      if (known != nullptr) {
        ASSERT_EQ(*known, number);
      } else {
        cache.Insert(KeyOf(number), number, 1);
      }
    }
  });
  const LruStats stats = cache.stats();
  EXPECT_EQ(stats.hits + stats.misses, 20'000u);
  EXPECT_LE(stats.entries, 200u);
}

}  // namespace
}  // namespace millrace::models
