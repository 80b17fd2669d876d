#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "server/scheduling/refusal.h"
#include "server/scheduling/scheduler.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeReply;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using SchedulerQueueTest = SchedulingTest;

TEST_F(SchedulerQueueTest, IsFirstInFirstOut) {
  const auto model = MakeModel("m");
  FakeReply a, b, c;
  for (FakeReply* reply : {&a, &b, &c}) ASSERT_TRUE(Submit(model, *reply).ok());
  EXPECT_EQ(scheduler_.depth(model->queue()), 3U);
  EXPECT_THAT(Pop(), ElementsAre(&a));
  EXPECT_THAT(Pop(), ElementsAre(&b));
  EXPECT_THAT(Pop(), ElementsAre(&c));
  EXPECT_EQ(scheduler_.depth(model->queue()), 0U);
}

TEST_F(SchedulerQueueTest, FullOneRefusesAndLeavesTheJobWithTheCaller) {
  const auto model = MakeModel("little", {.queue_size = 2});
  const auto other = MakeModel("other");
  EXPECT_EQ(scheduler_.capacity(model->queue()), 2U);
  FakeReply a, b, c, d;
  ASSERT_TRUE(Submit(model, a).ok());
  ASSERT_TRUE(Submit(model, b).ok());
  std::unique_ptr<Job> job = MakeJob(model, c);
  const absl::Status status = scheduler_.Submit(job);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(MessageOf(status), HasSubstr("the queue of model 'little' is full (2 requests)"));
  EXPECT_GE(RetryHint(status).count(), 1);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(scheduler_.depth(model->queue()), 2U);
  EXPECT_TRUE(Submit(other, d).ok());  // another model's queue is its own
}

TEST_F(SchedulerQueueTest, TellsForHowLongItsOldestJobHasWaited) {
  const auto model = MakeModel("m");
  EXPECT_EQ(scheduler_.load(model->queue()).oldest, Duration::zero());
  FakeReply a, b;
  ASSERT_TRUE(Submit(model, a).ok());
  clock_.Advance(seconds(3));
  ASSERT_TRUE(Submit(model, b).ok());
  clock_.Advance(seconds(1));
  EXPECT_EQ(scheduler_.load(model->queue()).oldest, seconds(4));
  EXPECT_THAT(Pop(), ElementsAre(&a));
  EXPECT_EQ(scheduler_.load(model->queue()).oldest, seconds(1));
  // One that comes back waits anew, behind those that came before.
  clock_.Advance(seconds(1));
  scheduler_.Requeue(std::move(popped_.batch.front()));
  EXPECT_EQ(scheduler_.load(model->queue()).oldest, seconds(2));
}

TEST_F(SchedulerQueueTest, ForecastsTheWaitOfANewcomer) {
  const auto model = MakeModel("m");
  const auto wait = [&] { return scheduler_.load(model->queue()).expected_wait; };
  FakeReply a, b;
  ASSERT_TRUE(Submit(model, a).ok());
  EXPECT_EQ(wait(), 0) << "the pace is not known";
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(2), .work = 1});
  EXPECT_DOUBLE_EQ(wait(), 2);
  ASSERT_TRUE(Submit(model, b).ok());
  EXPECT_DOUBLE_EQ(wait(), 4);
  EXPECT_THAT(Pop(), ElementsAre(&a));
  EXPECT_DOUBLE_EQ(wait(), 4) << "what runs is not done";
  scheduler_.EndStep(popped_.batch, seconds(2));
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(2), .work = 1});
  EXPECT_DOUBLE_EQ(wait(), 2);
}

TEST_F(SchedulerQueueTest, WithoutASizeOfItsOwnHasTheServers) {
  const auto model = MakeModel("m");
  EXPECT_EQ(scheduler_.capacity(model->queue()), 100U);
}

TEST_F(SchedulerQueueTest, TakesTheJobThatItAccepts) {
  const auto model = MakeModel("m");
  FakeReply reply;
  std::unique_ptr<Job> job = MakeJob(model, reply);
  ASSERT_TRUE(scheduler_.Submit(job).ok());
  EXPECT_EQ(job, nullptr);
  EXPECT_THAT(Pop(), ElementsAre(&reply));
  EXPECT_EQ(popped_.batch.front()->enqueued, clock_.Now());
}

TEST_F(SchedulerQueueTest, RequeuedJobGoesToTheBack) {
  const auto model = MakeModel("m");
  FakeReply longer, b, c;
  for (FakeReply* reply : {&longer, &b, &c}) ASSERT_TRUE(Submit(model, *reply).ok());
  EXPECT_THAT(Pop(), ElementsAre(&longer));
  clock_.Advance(seconds(1));
  scheduler_.Requeue(std::move(popped_.batch.front()));
  EXPECT_THAT(Pop(), ElementsAre(&b));
  EXPECT_THAT(Pop(), ElementsAre(&c));
  EXPECT_THAT(Pop(), ElementsAre(&longer));
  EXPECT_EQ(popped_.batch.front()->enqueued, clock_.Now());
}

TEST_F(SchedulerQueueTest, RequeueIsNeverRefusedForSize) {
  const auto model = MakeModel("m", {.queue_size = 1});
  FakeReply running, waiting;
  ASSERT_TRUE(Submit(model, running).ok());
  EXPECT_THAT(Pop(), ElementsAre(&running));
  ASSERT_TRUE(Submit(model, waiting).ok());
  scheduler_.Requeue(std::move(popped_.batch.front()));
  EXPECT_EQ(scheduler_.depth(model->queue()), 2U);
  EXPECT_FALSE(running.status());
}

TEST_F(SchedulerQueueTest, DropsWhatWasCancelledWhileItWaited) {
  const auto model = MakeModel("m", {.max_batch = 2});
  FakeReply gone, a, b, c;
  for (FakeReply* reply : {&gone, &a, &b, &c}) ASSERT_TRUE(Submit(model, *reply).ok());
  gone.Cancel();
  EXPECT_THAT(Pop(), ElementsAre(&a, &b));  // a dropped job takes no place in the batch
  EXPECT_THAT(Replies(popped_.dropped), ElementsAre(&gone));
  EXPECT_THAT(Pop(), ElementsAre(&c));
  EXPECT_THAT(popped_.dropped, IsEmpty());
}

TEST_F(SchedulerQueueTest, DropsWhatExpiredWhileItWaited) {
  const auto model = MakeModel("m", {.max_batch = 4});
  FakeReply late, in_time;
  ASSERT_TRUE(Submit(model, late, clock_.Now() + seconds(1)).ok());
  ASSERT_TRUE(Submit(model, in_time, clock_.Now() + seconds(2)).ok());
  clock_.Advance(seconds(1));
  EXPECT_THAT(Pop(), ElementsAre(&in_time));
  EXPECT_THAT(Replies(popped_.dropped), ElementsAre(&late));
}

TEST_F(SchedulerQueueTest, HandsOutDroppedJobsWithoutABatch) {
  const auto model = MakeModel("m");
  FakeReply gone;
  ASSERT_TRUE(Submit(model, gone).ok());
  gone.Cancel();
  EXPECT_THAT(Pop(), IsEmpty());
  EXPECT_THAT(Replies(popped_.dropped), ElementsAre(&gone));
}

TEST_F(SchedulerQueueTest, TakesOutWhatExpiredWhileNoWorkerIsFree) {
  const auto model = MakeModel("m");
  const auto other = MakeModel("other");
  FakeReply late, in_time, late_too, without;
  ASSERT_TRUE(Submit(model, late, clock_.Now() + seconds(1)).ok());
  ASSERT_TRUE(Submit(model, in_time, clock_.Now() + seconds(2)).ok());
  ASSERT_TRUE(Submit(other, late_too, clock_.Now() + seconds(1)).ok());
  ASSERT_TRUE(Submit(other, without).ok());
  EXPECT_THAT(scheduler_.TakeExpired(), IsEmpty());
  clock_.Advance(seconds(1));
  EXPECT_THAT(Replies(scheduler_.TakeExpired()), ElementsAre(&late, &late_too));
  EXPECT_THAT(Pop(), ElementsAre(&in_time));
  EXPECT_THAT(Pop(), ElementsAre(&without));
  EXPECT_THAT(popped_.dropped, IsEmpty());
}

TEST_F(SchedulerQueueTest, RemoveTakesOutTheJobOfAReply) {
  const auto model = MakeModel("m");
  FakeReply a, b, c, stranger;
  for (FakeReply* reply : {&a, &b, &c}) ASSERT_TRUE(Submit(model, *reply).ok());
  const std::unique_ptr<Job> removed = scheduler_.Remove(model->queue(), b);
  ASSERT_NE(removed, nullptr);
  EXPECT_EQ(&removed->reply, &b);
  EXPECT_EQ(scheduler_.Remove(model->queue(), b), nullptr);
  EXPECT_EQ(scheduler_.Remove(model->queue(), stranger), nullptr);
  EXPECT_THAT(Pop(), ElementsAre(&a));
  EXPECT_THAT(Pop(), ElementsAre(&c));
}

TEST_F(SchedulerQueueTest, RemoveDoesNotFindAJobThatRuns) {
  const auto model = MakeModel("m");
  FakeReply reply;
  ASSERT_TRUE(Submit(model, reply).ok());
  Pop();
  EXPECT_EQ(scheduler_.Remove(model->queue(), reply), nullptr);
}

TEST_F(SchedulerQueueTest, CloseReturnsWhatWaitsAndRefusesTheRest) {
  const auto one = MakeModel("one");
  const auto two = MakeModel("two");
  FakeReply a, b, late;
  ASSERT_TRUE(Submit(one, a).ok());
  ASSERT_TRUE(Submit(two, b).ok());
  EXPECT_THAT(Replies(scheduler_.Close()), ElementsAre(&a, &b));
  EXPECT_THAT(scheduler_.Close(), IsEmpty());
  EXPECT_FALSE(scheduler_.PopBatch(popped_));

  std::unique_ptr<Job> job = MakeJob(one, late);
  EXPECT_EQ(scheduler_.Submit(job).code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(job, nullptr);
  EXPECT_EQ(scheduler_.depth(one->queue()), 0U);
}

TEST_F(SchedulerQueueTest, RequeueAfterCloseEndsTheJob) {
  const auto model = MakeModel("m");
  FakeReply reply;
  ASSERT_TRUE(Submit(model, reply).ok());
  Pop();
  scheduler_.Close();
  scheduler_.Requeue(std::move(popped_.batch.front()));
  ASSERT_TRUE(reply.status());
  EXPECT_EQ(reply.status()->code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(reply.finishes(), 1);
}

TEST_F(SchedulerQueueTest, SlotOfARemovedModelIsUsedAgainAsNew) {
  QueueId freed = 0;
  {
    const auto first = MakeModel("first", {.max_batch = 7, .queue_size = 3});
    freed = first->queue();
    scheduler_.ReportStep(freed, {.jobs = 1, .took = seconds(100), .work = 1});
  }
  const auto second = MakeModel("second");
  EXPECT_EQ(second->queue(), freed);
  EXPECT_EQ(scheduler_.capacity(freed), 100U);
  // The pace of the first model says nothing of the second.
  FakeReply a, b;
  ASSERT_TRUE(Submit(second, a).ok());
  EXPECT_TRUE(Submit(second, b, clock_.Now() + seconds(1)).ok());
  EXPECT_THAT(Pop(), ElementsAre(&a));  // and max_batch is 1 again
}

TEST_F(SchedulerQueueTest, QueuesThatLiveKeepTheirNumber) {
  auto first = MakeModel("first");
  const auto second = MakeModel("second", {.queue_size = 5});
  const QueueId id = second->queue();
  first.reset();
  std::vector<std::shared_ptr<ServedModel>> more;
  for (int i = 0; i < 50; ++i) more.push_back(MakeModel("more"));
  FakeReply reply;
  ASSERT_TRUE(Submit(second, reply).ok());
  EXPECT_EQ(second->queue(), id);
  EXPECT_EQ(scheduler_.capacity(id), 5U);
  EXPECT_EQ(scheduler_.depth(id), 1U);
}

}  // namespace
}  // namespace millrace::server
