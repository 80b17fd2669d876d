// Jobs of several keys in one model's queue.
#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "server/scheduling/refusal.h"
#include "server/scheduling/scheduler.h"
#include "tests/unit/server/scheduling/closed_loops.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeReply;
using ::testing::HasSubstr;

constexpr FairShare kAnn{.key = 1};
constexpr FairShare kBob{.key = 2};

class SchedulerKeysTest : public SchedulingTest {
 protected:
  absl::Status SubmitFor(const FairShare& share, const std::shared_ptr<ServedModel>& model,
                         Reply& reply, TimePoint deadline = TimePoint::max()) {
    auto job = std::make_unique<Job>(models::Input(), deadline, reply, model, clock_, share);
    absl::Status status = scheduler_.Submit(job);
    clock_.Advance(milliseconds(1));
    return status;
  }
  // Submits as many jobs of a key.
  std::deque<FakeReply>& Flood(const FairShare& share, const std::shared_ptr<ServedModel>& model,
                               size_t count, TimePoint deadline = TimePoint::max()) {
    std::deque<FakeReply>& replies = floods_.emplace_back();
    for (size_t i = 0; i < count; ++i)
      EXPECT_TRUE(SubmitFor(share, model, replies.emplace_back(), deadline).ok());
    return replies;
  }
  // Runs the next batch for that long. Its jobs are left in popped_.
  std::vector<const Reply*> Serve(Duration took) {
    std::vector<const Reply*> replies = Pop();
    scheduler_.EndStep(popped_.batch, took);
    scheduler_.ReportStep(popped_.batch.front()->model->queue(),
                          {.jobs = popped_.batch.size(), .took = took});
    return replies;
  }

  std::deque<std::deque<FakeReply>> floods_;
};

TEST_F(SchedulerKeysTest, FloodOfOneKeyDoesNotKeepAnotherWaiting) {
  const auto model = MakeModel("m");
  auto& flood = Flood(kAnn, model, 20);
  EXPECT_THAT(Serve(milliseconds(10)), ElementsAre(&flood[0]));
  FakeReply bob;
  ASSERT_TRUE(SubmitFor(kBob, model, bob).ok());
  EXPECT_THAT(Serve(milliseconds(10)), ElementsAre(&bob));
  EXPECT_THAT(Serve(milliseconds(10)), ElementsAre(&flood[1]));
}

TEST_F(SchedulerKeysTest, BatchMixesKeys) {
  const auto model = MakeModel("m", {.max_batch = 4});
  auto& ann = Flood(kAnn, model, 8);
  auto& bob = Flood(kBob, model, 3);
  EXPECT_THAT(Serve(milliseconds(10)), ElementsAre(&ann[0], &bob[0], &ann[1], &bob[1]));
  EXPECT_THAT(Serve(milliseconds(10)), ElementsAre(&ann[2], &bob[2], &ann[3], &ann[4]));
}

TEST_F(SchedulerKeysTest, RequestsOfOneKeyKeepTheirOrder) {
  const auto model = MakeModel("m");
  auto& ann = Flood(kAnn, model, 3);
  for (FakeReply& reply : ann) EXPECT_THAT(Serve(milliseconds(10)), ElementsAre(&reply));
}

// All places of the workers are taken by requests that are under way.
TEST_F(SchedulerKeysTest, KeyWithNothingUnderWayMayBegin) {
  const auto model = MakeModel("m");
  FakeReply started[2 * ModelQueue::kUnderWayPerPlace];
  for (FakeReply& reply : started) {
    auto job = std::make_unique<Job>(models::Input(), TimePoint::max(), reply, model, clock_, kAnn);
    job->service = milliseconds(100);
    scheduler_.Requeue(std::move(job));
  }
  FakeReply bob, bob_too;
  ASSERT_TRUE(SubmitFor(kBob, model, bob).ok());
  ASSERT_TRUE(SubmitFor(kBob, model, bob_too).ok());
  EXPECT_THAT(Serve(milliseconds(10)), ElementsAre(&started[0]));
  EXPECT_THAT(Serve(milliseconds(10)), ElementsAre(&bob));
}

TEST_F(SchedulerKeysTest, FullQueueTakesAPlaceFromTheKeyWithTheMost) {
  const auto model = MakeModel("m", {.queue_size = 4});
  auto& flood = Flood(kAnn, model, 4);
  FakeReply more, bob, bob_too, bob_more;
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitFor(kAnn, model, more)));
  ASSERT_TRUE(SubmitFor(kBob, model, bob).ok());
  ASSERT_TRUE(flood[3].status());
  EXPECT_TRUE(absl::IsResourceExhausted(*flood[3].status()));
  EXPECT_THAT(MessageOf(*flood[3].status()), HasSubstr("this key has the most requests in it"));
  EXPECT_GT(RetryHint(*flood[3].status()).count(), 0);
  EXPECT_EQ(RefusalOf(*flood[3].status()), Refusal::kQueueFull);
  ASSERT_TRUE(SubmitFor(kBob, model, bob_too).ok());
  EXPECT_TRUE(flood[2].status());
  // Both have as many now.
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitFor(kBob, model, bob_more)));
  EXPECT_EQ(scheduler_.depth(model->queue()), 4U);
}

TEST_F(SchedulerKeysTest, WithoutKeysAFullQueueTakesNoPlaceFromAnybody) {
  const auto model = MakeModel("m", {.queue_size = 2});
  auto& first = Flood({}, model, 2);
  FakeReply more;
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitFor({}, model, more)));
  EXPECT_FALSE(first[0].status());
  EXPECT_FALSE(first[1].status());
}

TEST_F(SchedulerKeysTest, CountsTheTimeThatEachKeyHasHad) {
  const auto model = MakeModel("m", {.max_batch = 2});
  const auto other = MakeModel("other");
  Flood(kAnn, model, 1);
  Flood(kBob, model, 1);
  Serve(milliseconds(100));
  Flood(kBob, other, 1);
  Serve(milliseconds(10));
  const std::vector<double> had = scheduler_.key_seconds();
  ASSERT_EQ(had.size(), 3U);
  EXPECT_NEAR(had[1], 0.05, 1e-9);
  EXPECT_NEAR(had[2], 0.06, 1e-9);
}

// Keys that send one request after another, beside others.
class KeyLoopsTest : public ::testing::Test {
 protected:
  static Duration P95(Callers& callers) {
    if (callers.times.empty()) return Duration::max();
    std::ranges::sort(callers.times);
    return callers.times[callers.times.size() * 95 / 100];
  }

  ClosedLoops loops_{2};
};

TEST_F(KeyLoopsTest, WorkersAreSharedByWeight) {
  const auto model = loops_.AddModel("m", {.step = milliseconds(10), .sentence = milliseconds(40)},
                                     {.max_batch = 1});
  Callers& ann =
      loops_.Add({.model = model, .count = 20, .sentences = 1, .share = {.key = 1, .weight = 3}});
  Callers& bob = loops_.Add({.model = model, .count = 20, .sentences = 1, .share = {.key = 2}});
  loops_.RunFor(seconds(60));
  EXPECT_NEAR(static_cast<double>(ann.ended) / bob.ended, 3, 0.15);
}

// Bob has half of what the workers can do; Ann wants ten times as much.
TEST_F(KeyLoopsTest, FloodOfAnotherKeyCostsLittleAtTheFairShare) {
  const auto run = [](bool flood) {
    ClosedLoops loops(2, /*queue_size=*/64);
    const auto model = loops.AddModel("m", {.step = milliseconds(5), .sentence = milliseconds(20)},
                                      {.max_batch = 1});
    if (flood) {
      loops.Add(
          {.model = model, .count = 100, .sentences = 4, .share = kAnn, .pause = milliseconds(20)});
    }
    Callers& bob = loops.Add({.model = model, .count = 1, .sentences = 4, .share = kBob});
    loops.RunFor(seconds(20));
    return std::pair(bob.ended, P95(bob));
  };
  const auto [alone, p95_alone] = run(false);
  const auto [beside, p95_beside] = run(true);
  EXPECT_GE(beside, alone * 0.75);
  EXPECT_LE(p95_beside, p95_alone * 1.5);
}

// Ann's requests fill the time up to their deadlines, and more of them come all the time.
TEST_F(KeyLoopsTest, DeadlinesOfAnotherKeyDoNotKeepAKeyOut) {
  const auto model = loops_.AddModel("m", {.step = milliseconds(10), .sentence = milliseconds(90)},
                                     {.max_batch = 1});
  loops_.Add({.model = model,
              .count = 100,
              .sentences = 3,
              .deadline = seconds(2),
              .share = kAnn,
              .pause = milliseconds(50)});
  Callers& bob = loops_.Add(
      {.model = model, .count = 1, .sentences = 3, .deadline = seconds(2), .share = kBob});
  loops_.RunFor(seconds(60));
  EXPECT_GT(bob.ended, 50);
  EXPECT_LE(bob.refused + bob.late + bob.sent_away, bob.ended / 20);
}

// However high the priority of the others, a request waits no longer than for their head start.
TEST_F(KeyLoopsTest, LowestPriorityIsServedAmongAFloodOfTheHighest) {
  const auto model = loops_.AddModel("m", {.step = milliseconds(10), .sentence = milliseconds(40)},
                                     {.max_batch = 1});
  loops_.Add({.model = model,
              .count = 100,
              .sentences = 1,
              .share = {.key = 1, .weight = 1, .priority = Priority::kHigh}});
  Callers& low = loops_.Add({.model = model,
                             .count = 1,
                             .sentences = 1,
                             .share = {.key = 2, .weight = 1, .priority = Priority::kLow}});
  loops_.RunFor(seconds(60));
  ASSERT_GT(low.ended, 0);
  std::ranges::sort(low.times);
  // Two workers give the others their head start in half of it.
  EXPECT_LE(low.times.back(), milliseconds(700));
}

}  // namespace
}  // namespace millrace::server
