#include "models/speech/speech_cache.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/at_once.h"

namespace millrace::speech {
namespace {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

const std::vector<int64_t> kIds = {1, 2, 3};

UnitInput UnitWithSeed(uint64_t seed) {
  return {.ids = kIds, .voices = {{.voice = 1}}, .seed = seed};
}

UnitAudio AudioOf(uint64_t seed) {
  return {.frames = {1, 2, static_cast<int64_t>(seed)},
          .samples = {0.5F, static_cast<float>(seed)}};
}

TEST(SpeechCacheTest, GivesBackWhatItWasGiven) {
  SpeechCache cache(kMebibyte);
  const auto model = cache.MakeForModel();
  ASSERT_TRUE(model.on());
  const std::string key = model.KeyOf(UnitWithSeed(7));
  EXPECT_EQ(model.Find(key), nullptr);
  model.Insert(key, AudioOf(7));
  const std::shared_ptr<const UnitAudio> known = model.Find(key);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->frames, AudioOf(7).frames);
  EXPECT_EQ(known->samples, AudioOf(7).samples);
  const SpeechCache::Stats stats = cache.stats();
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.entries, 1u);
  EXPECT_GE(stats.bytes, key.size() + AudioOf(7).bytes());
}

TEST(SpeechCacheTest, WhateverAudioDependsOnIsInItsKey) {
  SpeechCache cache(kMebibyte);
  const auto model = cache.MakeForModel();
  const std::vector<int64_t> fewer = {1, 2};
  const std::vector<int64_t> other = {1, 2, 4};
  const std::vector<std::function<void(UnitInput&)>> changes = {
      [&](UnitInput& unit) { unit.ids = fewer; },
      [&](UnitInput& unit) { unit.ids = other; },
      [](UnitInput& unit) { unit.voices = {{.voice = 2}}; },
      [](UnitInput& unit) {
        unit.voices = {{.voice = 1, .weight = 0.5F}, {2, 0.5F}};
      },
      [](UnitInput& unit) {
        unit.voices = {{.voice = 1, .weight = 0.4F}, {2, 0.6F}};
      },
      [](UnitInput& unit) { unit.speed = 1.5F; },
      [](UnitInput& unit) { unit.noise_scale = 0.5F; },
      [](UnitInput& unit) { unit.noise_w = 0.5F; },
      [](UnitInput& unit) { unit.seed = 8; },
      [](UnitInput& unit) { unit.place = 7; }};
  std::vector<std::string> keys = {model.KeyOf(UnitWithSeed(0)),
                                   cache.MakeForModel().KeyOf(UnitWithSeed(0))};
  for (const auto& change : changes) {
    UnitInput unit = UnitWithSeed(0);
    change(unit);
    keys.push_back(model.KeyOf(unit));
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]) << i << ' ' << j;
  }
  EXPECT_EQ(model.KeyOf(UnitWithSeed(0)), keys[0]);
}

TEST(SpeechCacheTest, ForgetsOldUnitsToStayWithinItsLimit) {
  SpeechCache cache(kMebibyte);
  const auto model = cache.MakeForModel();
  constexpr size_t kSamples = 10'000;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    model.Insert(model.KeyOf(UnitWithSeed(seed)),
                 {.frames = {1}, .samples = std::vector<float>(kSamples)});
  }
  const SpeechCache::Stats stats = cache.stats();
  EXPECT_LE(stats.bytes, kMebibyte);
  EXPECT_GE(stats.bytes, stats.entries * kSamples * sizeof(float));
  EXPECT_GE(stats.entries, 15u);
  EXPECT_EQ(stats.entries + stats.evictions, 100u);
}

TEST(SpeechCacheTest, AUnitMayTakeAQuarter) {
  SpeechCache cache(kMebibyte);
  const auto model = cache.MakeForModel();
  const std::string key = model.KeyOf(UnitWithSeed(0));
  EXPECT_TRUE(model.HasRoomFor(kMebibyte / 4 - 1000, key.size()));
  EXPECT_FALSE(model.HasRoomFor(kMebibyte / 4, key.size()));
  model.Insert(key, {.frames = {1}, .samples = std::vector<float>(kMebibyte / 16)});
  EXPECT_EQ(cache.stats().entries, 0u);
}

TEST(SpeechCacheTest, OffItKeepsNothing) {
  SpeechCache cache(0);
  EXPECT_FALSE(cache.MakeForModel().on());
  EXPECT_FALSE(SpeechCache::ForModel().on());
}

TEST(SpeechCacheTest, ManyThreadsFindOnlyWhatIsTheirs) {
  constexpr int kThreads = 4;
  SpeechCache cache(64 << 10);
  const auto model = cache.MakeForModel();
  testing::AtOnce(kThreads, [&] {
    for (uint64_t i = 0; i < 3000; ++i) {
      const uint64_t seed = i * 7 % 300;
      std::string key = model.KeyOf(UnitWithSeed(seed));
      const std::shared_ptr<const UnitAudio> known = model.Find(key);
      if (known != nullptr) {
        ASSERT_EQ(known->samples, AudioOf(seed).samples);
      } else {
        model.Insert(std::move(key), AudioOf(seed));
      }
    }
  });
  EXPECT_EQ(cache.stats().hits + cache.stats().misses, 12'000u);
  EXPECT_LE(cache.stats().bytes, 64u << 10);
}

}  // namespace
}  // namespace millrace::speech
