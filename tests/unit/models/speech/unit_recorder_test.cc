#include "models/speech/unit_recorder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/models/speech/letter_reader.h"
#include "tests/unit/models/speech/speak.h"

namespace millrace::speech {
namespace {

const std::vector<int64_t> kRecordedIds = {1, 2};
const std::vector<int64_t> kRecordedFrames = {3, 4};

class UnitRecorderTest : public ::testing::Test {
 protected:
  static UnitInput Unit(uint64_t seed = 0) { return {.ids = kRecordedIds, .seed = seed}; }
  size_t entries() const { return cache_.stats().entries; }

  SpeechCache cache_{uint64_t{1} << 20};
  UnitRecorder recorder_{cache_.MakeForModel()};
};

TEST_F(UnitRecorderTest, KeepsAUnitWithItsLastSample) {
  EXPECT_EQ(recorder_.Find(Unit()), nullptr);
  recorder_.Begin(kRecordedFrames, 3);
  recorder_.Add(std::vector<float>{0.1F, 0.2F});
  EXPECT_EQ(entries(), 0u);
  recorder_.Add(std::vector<float>{0.3F});
  EXPECT_EQ(entries(), 1u);
  const auto known = recorder_.Find(Unit());
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->frames, kRecordedFrames);
  EXPECT_EQ(known->samples, (std::vector<float>{0.1F, 0.2F, 0.3F}));
}

TEST_F(UnitRecorderTest, AUnitThatDidNotEndIsNotKept) {
  recorder_.Find(Unit(1));
  recorder_.Begin(kRecordedFrames, 2);
  recorder_.Add(std::vector<float>{0.1F});
  recorder_.Find(Unit(2));
  recorder_.Add(std::vector<float>{0.2F});
  EXPECT_EQ(entries(), 0u);
}

TEST_F(UnitRecorderTest, ASecondBeginningDropsTheFirst) {
  recorder_.Find(Unit());
  recorder_.Begin(kRecordedFrames, 3);
  recorder_.Add(std::vector<float>{0.1F});
  recorder_.Begin(kRecordedFrames, 2);
  recorder_.Add(std::vector<float>{0.2F, 0.3F});
  const auto known = recorder_.Find(Unit());
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->samples, (std::vector<float>{0.2F, 0.3F}));
}

TEST_F(UnitRecorderTest, AUnitThatWasFoundIsNotRecorded) {
  for (int round = 0; round < 2; ++round) {
    recorder_.Find(Unit());
    recorder_.Begin(kRecordedFrames, 1);
    recorder_.Add(std::vector<float>{static_cast<float>(round)});
  }
  EXPECT_EQ(recorder_.Find(Unit())->samples, std::vector<float>{0.0F});
}

TEST_F(UnitRecorderTest, AUnitWithoutRoomIsNotRecorded) {
  recorder_.Find(Unit());
  const std::vector<float> samples((1 << 20) / sizeof(float) / 4);
  recorder_.Begin(kRecordedFrames, samples.size());
  recorder_.Add(samples);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(UnitRecorderTest, WithoutACacheItDoesNothing) {
  UnitRecorder off{SpeechCache::ForModel()};
  EXPECT_FALSE(off.on());
  EXPECT_EQ(off.Find(Unit()), nullptr);
  off.Begin(kRecordedFrames, 1);
  off.Add(std::vector<float>{0.1F});
  EXPECT_EQ(off.Find(Unit()), nullptr);
}

TEST_F(UnitRecorderTest, AStepEmitsAFewCachedUnitsUpToOneToSpeak) {
  std::string text;
  for (size_t i = 0; i < kMaxCachedUnits + 2; ++i) text += "abc. ";
  Collector sink;
  models::Request request(Say(text), TimePoint::max(), sink);
  SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {});
  const LetterReader reader;
  request.EstimateWorkLeft(plan.WorkLeft());
  size_t cached = kMaxCachedUnits + 1;
  const auto emit = [&] {
    if (cached == 0) return false;
    --cached;
    request.Emit(plan.TakeChunk({0.5F}, 1000, true));
    return true;
  };
  EXPECT_FALSE(PrepareUncached(request, plan, reader, emit));
  EXPECT_FALSE(request.outcome());
  EXPECT_EQ(sink.parts.size(), kMaxCachedUnits);
  EXPECT_GT(request.work_done(), 0);
  EXPECT_TRUE(PrepareUncached(request, plan, reader, emit));
  EXPECT_EQ(sink.parts.size(), kMaxCachedUnits + 1);
  EXPECT_EQ(plan.spoken(), kMaxCachedUnits + 1);
  EXPECT_FALSE(request.outcome());
  cached = 1;
  EXPECT_FALSE(PrepareUncached(request, plan, reader, emit));
  ASSERT_TRUE(request.outcome());
  EXPECT_TRUE(request.outcome()->ok());
  EXPECT_EQ(request.work_left(), 0);
  EXPECT_EQ(sink.parts.size(), kMaxCachedUnits + 2);
}

TEST_F(UnitRecorderTest, ACancelledRequestGetsNoCachedUnit) {
  Collector sink;
  models::Request request(Say("abc. abc."), TimePoint::max(), sink);
  SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {});
  const LetterReader reader;
  EXPECT_FALSE(PrepareUncached(request, plan, reader, [&] {
    request.Emit(plan.TakeChunk({0.5F}, 1000, true));
    sink.Cancel();
    return true;
  }));
  EXPECT_EQ(sink.parts.size(), 1u);
  EXPECT_FALSE(request.outcome());
}

}  // namespace
}  // namespace millrace::speech
