#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "server/scheduling/refusal.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using testing::FakeReply;
using ::testing::HasSubstr;
using ::testing::Not;

// Requests that have less time than their work takes. One worker does a unit of work a
// second; the server allows five minutes.
class SchedulerTooLongTest : public SchedulingTest {
 protected:
  SchedulerTooLongTest() {
    for (int i = 0; i < 10; ++i)
      scheduler_.ReportStep(model_->queue(), {.jobs = 1, .took = seconds(1), .work = 1});
  }

  models::TimeLimit ServersLimit() const { return clock_.Now() + minutes(5); }
  models::TimeLimit ClientsLimit(Duration left) const {
    models::TimeLimit limit(clock_.Now() + left);
    limit.last = limit.deadline;
    return limit;
  }
  models::TimeLimit StreamLimit() const {
    models::TimeLimit limit = ServersLimit();
    limit.patience = minutes(5);
    return limit;
  }

  std::unique_ptr<Job> JobOf(double work, const models::TimeLimit& limit, Reply& reply,
                             std::string text = {}) {
    models::Input input;
    if (!text.empty()) {
      models::SynthesizeInput speech;
      speech.text = std::move(text);
      input = std::move(speech);
    }
    auto job = std::make_unique<Job>(std::move(input), limit, reply, model_, clock_);
    job->request.EstimateWorkLeft(work);
    return job;
  }
  absl::Status SubmitWork(double work, const models::TimeLimit& limit, Reply& reply,
                          std::string text = {}) {
    std::unique_ptr<Job> job = JobOf(work, limit, reply, std::move(text));
    return scheduler_.Submit(job);
  }
  // Runs a step of the request that is next; it takes so long and does this much of the work.
  const Reply* RunStep(Duration took, double work) {
    EXPECT_TRUE(scheduler_.PopBatch(popped_));
    if (popped_.batch.size() != 1) return nullptr;
    std::unique_ptr<Job> job = std::move(popped_.batch.front());
    const Reply* const reply = &job->reply;
    std::vector<std::unique_ptr<Job>> batch;
    batch.push_back(std::move(job));
    clock_.Advance(took);
    batch.front()->request.AdvanceTo(batch.front()->request.work_left() - work);
    scheduler_.EndStep(batch, took);
    const double done = batch.front()->request.TakeWorkDone();
    scheduler_.Requeue(std::move(batch.front()));
    scheduler_.ReportStep(model_->queue(), {.jobs = 1, .took = took, .work = done});
    return reply;
  }

  const std::shared_ptr<ServedModel> model_ = MakeModel("m");
  FakeReply reply_, other_;
};

TEST_F(SchedulerTooLongTest, WhatNeverFitsIsTheClientsErrorWithTheLengthThatFits) {
  const absl::Status status = SubmitWork(1000, ServersLimit(), reply_, std::string(98'600, 'a'));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RefusalOf(status), Refusal::kNeverFits);
  EXPECT_EQ(RetryHint(status).count(), 0);
  EXPECT_EQ(MessageOf(status),
            "inputs: would take about 17 min here, and at most 5.0 min are allowed "
            "(--max-request-time); about 29000 of its 98600 characters fit");
}

// A part of the time is over when a request is admitted, as after its language was detected.
TEST_F(SchedulerTooLongTest, TheSettingIsNamedAndNotWhatIsLeftOfIt) {
  models::TimeLimit limit = clock_.Now() + minutes(3);
  limit.most = minutes(5);
  EXPECT_THAT(MessageOf(SubmitWork(1000, limit, reply_)),
              HasSubstr("at most 5.0 min are allowed (--max-request-time)"));
}

TEST_F(SchedulerTooLongTest, TheClientsOwnDeadlineIsNamedWhereItIsTheShorterOne) {
  const absl::Status status = SubmitWork(100, ClientsLimit(seconds(20)), reply_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(status), AllOf(HasSubstr("about 100 s"), HasSubstr("--timeout"),
                                       HasSubstr("20 s"), Not(HasSubstr("--max-request-time"))));
}

TEST_F(SchedulerTooLongTest, AlmostASecondIsNamedAsOne) {
  const absl::Status status =
      SubmitWork(100, ClientsLimit(std::chrono::microseconds(999'900)), reply_);
  EXPECT_THAT(MessageOf(status), HasSubstr("leaves 1 s"));
}

TEST_F(SchedulerTooLongTest, LessThanAMillisecondIsNotNamedAsNone) {
  const absl::Status status =
      SubmitWork(0.0123, ClientsLimit(std::chrono::microseconds(50)), reply_);
  EXPECT_THAT(MessageOf(status), AllOf(HasSubstr("about 12.3 ms"), HasSubstr("leaves 0.05 ms")));
}

// The length that was named is let in.
TEST_F(SchedulerTooLongTest, WhatFitsAloneIsLetIn) {
  EXPECT_TRUE(SubmitWork(290, ServersLimit(), reply_).ok());
}

TEST_F(SchedulerTooLongTest, WhatWouldFitAloneIsToldToTryAgain) {
  ASSERT_TRUE(SubmitWork(250, ServersLimit(), other_).ok());
  const absl::Status status = SubmitWork(200, ServersLimit(), reply_);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(RefusalOf(status), Refusal::kDeadline);
  EXPECT_GE(RetryHint(status), seconds(1));
}

TEST_F(SchedulerTooLongTest, WhatNeverFitsIsToldSoAlsoWhileOthersWait) {
  ASSERT_TRUE(SubmitWork(250, ServersLimit(), other_).ok());
  EXPECT_EQ(SubmitWork(1000, ServersLimit(), reply_).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SchedulerTooLongTest, ABookThatIsHeardNeedsNoTimeForTheWhole) {
  ASSERT_TRUE(SubmitWork(10'000, StreamLimit(), reply_).ok());
  // It goes on for as long as it makes progress.
  for (int i = 0; i < 40; ++i) ASSERT_EQ(RunStep(seconds(60), 60), &reply_) << i;
  EXPECT_TRUE(scheduler_.TakeExpired().empty());
  clock_.Advance(minutes(5));
  EXPECT_EQ(scheduler_.TakeExpired().size(), 1U);
}

TEST_F(SchedulerTooLongTest, ABookEndsAtTheDeadlineOfItsClient) {
  models::TimeLimit limit = StreamLimit();
  limit.last = clock_.Now() + minutes(8);
  ASSERT_TRUE(SubmitWork(400, limit, reply_).ok());
  for (int i = 0; i < 7; ++i) ASSERT_EQ(RunStep(seconds(60), 10), &reply_) << i;
  clock_.Advance(seconds(61));
  EXPECT_EQ(scheduler_.TakeExpired().size(), 1U);
}

TEST_F(SchedulerTooLongTest, ABookMustFitIntoTheDeadlineOfItsClient) {
  models::TimeLimit limit = StreamLimit();
  limit.last = clock_.Now() + minutes(8);
  const absl::Status status = SubmitWork(2000, limit, reply_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(status), HasSubstr("leaves 8.0 min"));
}

TEST_F(SchedulerTooLongTest, ABookDoesNotKeepOthersOut) {
  ASSERT_TRUE(SubmitWork(10'000, StreamLimit(), other_).ok());
  EXPECT_TRUE(SubmitWork(100, ServersLimit(), reply_).ok());
  EXPECT_TRUE(SubmitWork(10, ClientsLimit(seconds(30)), reply_).ok());
  EXPECT_TRUE(SubmitWork(5'000, StreamLimit(), reply_).ok());
}

// Streams count as a whole where they fit, so that a server with too many of them refuses more.
TEST_F(SchedulerTooLongTest, StreamsThatFitCountAsAWhole) {
  ASSERT_TRUE(SubmitWork(150, StreamLimit(), other_).ok());
  const absl::Status status = SubmitWork(200, StreamLimit(), reply_);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace millrace::server
