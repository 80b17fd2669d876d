#include "server/scheduling/job.h"

#include <chrono>
#include <memory>
#include <optional>

#include "server/scheduling/refusal.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using testing::FakeReply;

using JobTest = SchedulingTest;

TEST_F(JobTest, EndsItsReplyOnce) {
  const auto model = MakeModel("m");
  FakeReply reply;
  FinishJob(MakeJob(model, reply), absl::NotFoundError("gone"));
  EXPECT_EQ(reply.status()->code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(reply.finishes(), 1);
}

// A job's hold on its model must not outlive the reply: an unload waits for it.
TEST_F(JobTest, ModelAndStateAreReleasedBeforeTheReplyEnds) {
  auto model = MakeModel("m");
  const std::weak_ptr<ServedModel> watch = model;
  FakeReply reply;
  bool released = false;
  reply.on_finish = [&] { released = watch.expired(); };
  auto job = MakeJob(model, reply);
  model.reset();
  EXPECT_FALSE(watch.expired());
  FinishJob(std::move(job), absl::OkStatus());
  EXPECT_TRUE(released);
}

TEST_F(JobTest, WhatARequestRemembersGoesBeforeTheModel) {
  struct State final : models::RequestState {
    State(const std::weak_ptr<ServedModel>& model, bool& was_there)
        : model(model), was_there(was_there) {}
    ~State() override { was_there = !model.expired(); }
    const std::weak_ptr<ServedModel> model;
    bool& was_there;
  };
  auto model = MakeModel("m");
  FakeReply reply;
  bool was_there = false;
  auto job = MakeJob(model, reply);
  job->request.set_state(std::make_unique<State>(model, was_there));
  model.reset();
  FinishJob(std::move(job), absl::OkStatus());
  EXPECT_TRUE(was_there);
}

TEST_F(JobTest, IsRefusedByAServerThatStopsUnlessItHasBegun) {
  const auto model = MakeModel("m");
  FakeReply reply;
  auto job = MakeJob(model, reply);
  EXPECT_EQ(RefusalOf(ShutdownStatus(*job)), Refusal::kDraining);
  job->service = std::chrono::milliseconds(1);
  EXPECT_EQ(RefusalOf(ShutdownStatus(*job)), std::nullopt);
  EXPECT_EQ(ShutdownStatus(*job).code(), absl::StatusCode::kUnavailable);
  FinishJob(std::move(job), absl::OkStatus());
}

TEST_F(JobTest, KnowsWhenItWasAdmitted) {
  const auto model = MakeModel("m");
  FakeReply reply;
  clock_.Advance(std::chrono::seconds(3));
  EXPECT_EQ(MakeJob(model, reply)->admitted, clock_.Now());
}

// A reply that never says Congested is not asked to park; if it is, the call must still end.
TEST_F(JobTest, ReplyThatCannotParkEndsWithAnError) {
  class UnaryReply final : public Reply {
   public:
    void Emit(models::Output) override {}
    void Finish(const absl::Status& status) override { end = status; }
    absl::Status end;
  };
  const auto model = MakeModel("m");
  UnaryReply reply;
  EXPECT_FALSE(reply.Congested());
  reply.Park(MakeJob(model, reply));
  EXPECT_EQ(reply.end.code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace millrace::server
