#include <chrono>
#include <string>

#include "tests/unit/server/scheduling/closed_loops.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kSentences = 20;
constexpr Duration kDeadline = seconds(10);
constexpr Duration kRun = seconds(120);

// A model and what its workers can do at most.
struct Kind {
  std::string name;
  int workers = 2;
  ClosedLoops::Speed speed;
  models::BatchPolicy policy = {};
  double peak = 0;  // sentences a second
};

// A voice that speaks a sentence a step.
Kind Voice(int workers, Duration sentence) {
  return {.name = "voice",
          .workers = workers,
          .speed = {.step = sentence},
          .peak = workers / Seconds(sentence)};
}
// One that speaks eight at once.
Kind BatchedVoice() {
  return {.name = "batches",
          .speed = {.step = milliseconds(20), .sentence = milliseconds(10)},
          .policy = {.max_batch = 8},
          .peak = 2 * 8 / 0.1};
}
// A slow translator with 32 sentences in a batch, each in eight steps.
Kind Translator() {
  return {.name = "continuous",
          .speed = {.step = milliseconds(10), .sentence = milliseconds(6), .rows = 32, .parts = 8},
          .policy = {.max_batch = 32, .continuous = true, .divided = true, .full_work = 3200},
          .peak = 2 * 32 / 8 / 0.202};
}

std::ostream& operator<<(std::ostream& out, const Kind& kind) {
  return out << kind.name << " " << kind.workers;
}

// Returns the late ones among those that were admitted, in percent.
double LatePercent(const Callers& callers) {
  return 100.0 * callers.late / std::max(1, callers.late + callers.ended);
}

class LongRequestOverloadTest : public ::testing::TestWithParam<std::tuple<Kind, int>> {
 protected:
  Kind kind_ = std::get<0>(GetParam());
  int callers_ = std::get<1>(GetParam());
  ClosedLoops loops_{kind_.workers};
  std::shared_ptr<ServedModel> model_ = loops_.AddModel("m", kind_.speed, kind_.policy);

  Callers Long() const {
    return {.model = model_, .count = callers_, .sentences = kSentences, .deadline = kDeadline};
  }
  // Returns the part of the peak that was useful, in percent.
  double Goodput(Duration time) { return 100.0 * loops_.TakeUseful() / Seconds(time) / kind_.peak; }
};

TEST_P(LongRequestOverloadTest, WhatIsAdmittedIsDoneInTimeAndNothingIsLost) {
  const Callers& callers = loops_.Add(Long());
  loops_.RunFor(kRun);
  EXPECT_GE(Goodput(kRun), 90);
  EXPECT_LE(LatePercent(callers), 2.5);  // nearly all of those that came before any pace was known
  const int before = callers.late;
  loops_.RunFor(kRun);
  EXPECT_GE(Goodput(kRun), 95);
  EXPECT_LE(callers.late - before, 0.01 * callers.ended);
}

TEST_P(LongRequestOverloadTest, ShortRequestsAreServedBesideThem) {
  const Callers& callers = loops_.Add(Long());
  loops_.RunFor(seconds(20));
  const Callers& brief =
      loops_.Add({.model = model_, .count = 2, .sentences = 1, .deadline = milliseconds(2500)});
  loops_.RunFor(kRun);
  EXPECT_GE(Goodput(kRun + seconds(20)), 85);
  // On one worker they may take more than a newcomer was told.
  EXPECT_LE(LatePercent(callers), kind_.workers == 1 ? 12 : 4);
  EXPECT_EQ(brief.late, 0);
  EXPECT_GT(brief.ended, 50);
  EXPECT_LE(Seconds(brief.sum) / brief.ended, 1.5);
}

TEST_P(LongRequestOverloadTest, EstimatesThatAreFarTooHighOrLowAreCorrected) {
  for (const double misjudged : {0.3, 1.5}) {
    ClosedLoops loops(kind_.workers);
    Callers wrong = Long();
    wrong.model = loops.AddModel("m", kind_.speed, kind_.policy);
    wrong.misjudged = misjudged;
    const Callers& callers = loops.Add(wrong);
    loops.RunFor(seconds(20));
    const int before = callers.late;
    EXPECT_LE(before, 6) << misjudged;
    loops.TakeUseful();
    loops.RunFor(kRun);
    EXPECT_GE(100.0 * misjudged * loops.TakeUseful() / Seconds(kRun) / kind_.peak, 85) << misjudged;
    EXPECT_LE(callers.late - before, 0.02 * callers.ended) << misjudged;
  }
}

TEST_P(LongRequestOverloadTest, WhoLeavesTakesNothingFromWhoStaysButTheWorkDone) {
  Callers stay = Long();
  stay.count /= 2;
  Callers leave = stay;
  leave.gives_up = seconds(2);
  const Callers& stayed = loops_.Add(stay);
  const Callers& left = loops_.Add(leave);
  loops_.RunFor(kRun);
  EXPECT_LE(LatePercent(stayed), 6);
  EXPECT_GE(stayed.ended, 10);
  EXPECT_GT(left.cancelled, 10);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LongRequestOverloadTest,
                         ::testing::Combine(::testing::Values(Voice(2, milliseconds(85)),
                                                              Voice(1, milliseconds(85)),
                                                              BatchedVoice(), Translator()),
                                            ::testing::Values(100, 400)),
                         [](const auto& info) {
                           const Kind& kind = std::get<0>(info.param);
                           return kind.name + std::to_string(kind.workers) + "Workers" +
                                  std::to_string(std::get<1>(info.param)) + "Callers";
                         });

// A request that needs eight of its ten seconds itself.
TEST(LongRequestOverloadOfTwoWorkersTest, EachIsGivenToTheLongestThatItCanServe) {
  ClosedLoops loops(2);
  const auto model = loops.AddModel("m", {.step = milliseconds(400)});
  const Callers& callers =
      loops.Add({.model = model, .count = 100, .sentences = kSentences, .deadline = kDeadline});
  loops.RunFor(kRun);
  EXPECT_GE(callers.ended, 28);
  EXPECT_EQ(callers.late, 0);
}

TEST(LongRequestOverloadOfTwoWorkersTest, AnotherModelKeepsItsShare) {
  ClosedLoops loops(2);
  const auto voice = loops.AddModel("voice", {.step = milliseconds(85)});
  const auto other = loops.AddModel("other", {.step = milliseconds(10)});
  const Callers& callers =
      loops.Add({.model = voice, .count = 100, .sentences = kSentences, .deadline = kDeadline});
  const Callers& others =
      loops.Add({.model = other, .count = 8, .sentences = 1, .deadline = milliseconds(2500)});
  loops.RunFor(seconds(20));
  const int late = callers.late;
  EXPECT_LE(late, 10);
  loops.RunFor(kRun);
  EXPECT_GE(others.ended, 0.45 * 2 / 0.01 * Seconds(kRun));
  EXPECT_EQ(others.late, 0);
  EXPECT_GE(kSentences * callers.ended, 0.4 * 2 / 0.085 * Seconds(kRun));
  EXPECT_LE(callers.late - late, 0.1 * callers.ended);
}

// Requests that had begun when it became slow may be late.
TEST(LongRequestOverloadOfTwoWorkersTest, MachineThatBecomesThreeTimesAsSlowLosesFew) {
  ClosedLoops loops(2);
  const auto model = loops.AddModel("m", {.step = milliseconds(85)});
  const Callers& callers =
      loops.Add({.model = model, .count = 100, .sentences = kSentences, .deadline = kDeadline});
  loops.RunFor(seconds(40));
  loops.SlowDown(3);
  loops.RunFor(seconds(40));
  const int late = callers.late;
  EXPECT_LE(late, 10);
  loops.RunFor(seconds(40));
  EXPECT_EQ(callers.late, late);
}

}  // namespace
}  // namespace millrace::server
