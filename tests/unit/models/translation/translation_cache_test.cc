#include "models/translation/translation_cache.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "models/translation/translation_engine.h"
#include "tests/fakes/at_once.h"

namespace millrace::translation {
namespace {

constexpr TranslationCache::Limits kPlenty = {uint64_t{1} << 20, 1000};

SentenceJob JobFor(int32_t token) {
  SentenceJob job;
  job.source = {token, 0};
  job.max_target = 10;
  return job;
}

// A job that is done.
SentenceJob Translated(int32_t token) {
  SentenceJob job = JobFor(token);
  job.target = {token + 1, token + 2};
  job.found = {{job.target, -1.5F}};
  job.done = true;
  return job;
}

TEST(TranslationCacheTest, GivesBackWhatItWasGiven) {
  TranslationCache cache(kPlenty);
  const auto model = cache.MakeForModel();
  SentenceJob job = JobFor(7);
  EXPECT_FALSE(model.Find(job));
  EXPECT_FALSE(job.done);
  model.Insert(Translated(7));
  ASSERT_TRUE(model.Find(job));
  EXPECT_TRUE(job.done);
  EXPECT_EQ(job.target, (std::vector<int32_t>{8, 9}));
  ASSERT_EQ(job.found.size(), 1u);
  EXPECT_EQ(job.found[0].score, -1.5F);
  EXPECT_EQ(cache.stats().hits, 1u);
  EXPECT_EQ(cache.stats().misses, 1u);
  EXPECT_EQ(cache.stats().entries, 1u);
}

TEST(TranslationCacheTest, WhateverATranslationDependsOnIsInItsKey) {
  TranslationCache cache(kPlenty);
  const auto model = cache.MakeForModel();
  model.Insert(Translated(7));
  const std::vector<std::function<void(SentenceJob&)>> changes = {
      [](SentenceJob& job) { job.source = {7}; },
      [](SentenceJob& job) { job.prefix = {1}; },
      [](SentenceJob& job) { job.source = {7}, job.prefix = {0}; },
      [](SentenceJob& job) { job.max_target = 11; },
      [](SentenceJob& job) { job.min_target = 2; },
      [](SentenceJob& job) { job.align = true; },
      [](SentenceJob& job) { job.search.beam_size = 2; },
      [](SentenceJob& job) { job.search.hypotheses = 2; },
      [](SentenceJob& job) { job.search.length_penalty = 0.5F; },
      [](SentenceJob& job) { job.search.early_stopping = EarlyStopping::kNever; },
      [](SentenceJob& job) { job.search.no_repeat_ngram_size = 3; },
      [](SentenceJob& job) { job.search.repetition_penalty = 2; },
      [](SentenceJob& job) { job.search.sample = true; },
      [](SentenceJob& job) { job.search.temperature = 2; },
      [](SentenceJob& job) { job.search.top_k = 4; },
      [](SentenceJob& job) { job.search.top_p = 0.5F; },
      [](SentenceJob& job) { job.search.seed = 4; }};
  for (size_t i = 0; i < changes.size(); ++i) {
    SentenceJob job = JobFor(7);
    changes[i](job);
    EXPECT_FALSE(model.Find(job)) << i;
  }
  SentenceJob job = JobFor(7);
  EXPECT_FALSE(cache.MakeForModel().Find(job));
  EXPECT_TRUE(model.Find(job));
}

TEST(TranslationCacheTest, KeepsWithinItsLimits) {
  for (const TranslationCache::Limits limits :
       {TranslationCache::Limits{64 << 10, 1'000'000}, {uint64_t{1} << 30, 64}}) {
    TranslationCache cache(limits);
    const auto model = cache.MakeForModel();
    for (int32_t token = 0; token < 5000; ++token) model.Insert(Translated(token));
    const TranslationCache::Stats stats = cache.stats();
    EXPECT_LE(stats.bytes, limits.max_bytes);
    EXPECT_LE(stats.entries, limits.max_entries);
    EXPECT_GT(stats.entries, 40u);
    EXPECT_EQ(stats.entries + stats.evictions, 5000u);
  }
}

TEST(TranslationCacheTest, ForgetsWhatWasNotUsedForLongest) {
  TranslationCache cache({uint64_t{1} << 20, 64});
  const auto model = cache.MakeForModel();
  model.Insert(Translated(0));
  for (int32_t token = 1; token < 2000; ++token) {
    model.Insert(Translated(token));
    SentenceJob used = JobFor(0);
    ASSERT_TRUE(model.Find(used)) << token;
  }
  SentenceJob first = JobFor(1);
  EXPECT_FALSE(model.Find(first));
}

TEST(TranslationCacheTest, OffItKeepsNothing) {
  TranslationCache cache({0, 1000});
  const auto model = cache.MakeForModel();
  model.Insert(Translated(7));
  SentenceJob job = JobFor(7);
  EXPECT_FALSE(model.Find(job));
  EXPECT_EQ(cache.stats().misses, 0u);
  EXPECT_FALSE(TranslationCache::ForModel().Find(job));
}

TEST(TranslationCacheTest, WhatIsTooLargeIsNotKept) {
  TranslationCache cache({16 << 10, 1000});
  SentenceJob job = Translated(7);
  job.target.resize(1000);
  cache.MakeForModel().Insert(job);
  EXPECT_EQ(cache.stats().entries, 0u);
}

TEST(TranslationCacheTest, ManyThreadsFindOnlyWhatIsTheirs) {
  constexpr int kThreads = 4;
  TranslationCache cache({256 << 10, 200});
  const auto model = cache.MakeForModel();
  testing::AtOnce(kThreads, [&] {
    for (int32_t i = 0; i < 5000; ++i) {
      const int32_t token = i * 7 % 400;
      SentenceJob job = JobFor(token);
      if (model.Find(job)) {
        ASSERT_EQ(job.target, Translated(token).target);
      } else {
        model.Insert(Translated(token));
      }
    }
  });
  const TranslationCache::Stats stats = cache.stats();
  EXPECT_EQ(stats.hits + stats.misses, 20'000u);
  EXPECT_LE(stats.entries, 208u);
}

}  // namespace
}  // namespace millrace::translation
