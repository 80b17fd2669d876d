#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mps_runtime/errors.h"
#include "tests/unit/server/scheduling/step_fixture.h"

namespace millrace::server {
namespace {

using models::Request;
using testing::FakeModel;
using testing::FakeReply;
using ::testing::HasSubstr;
using testing::ModelHooks;
using ::testing::Not;
using ::testing::Pair;

constexpr int kRequests = 4;

// A batch of four requests, "0" to "3", of which some make a phase throw.
class StepFailureTest : public StepTest {
 protected:
  ModelHooks::Hook ThrowFor(const std::string& poison, const std::string& message) {
    return [=, this](Request& request) {
      ++calls_[NameOf(request)];
      if (NameOf(request) == poison) throw std::runtime_error(message);
    };
  }

  void RunBatch(ModelHooks hooks) {
    model_ = MakeModel("m", {.max_batch = kRequests}, std::move(hooks));
    std::vector<std::unique_ptr<Job>> batch;
    for (int i = 0; i < kRequests; ++i)
      batch.push_back(Named(MakeJob(model_, replies_[i]), std::to_string(i)));
    Run(std::move(batch));
  }

  void ExpectOnlyFails(int poison, const std::string& message) {
    for (int i = 0; i < kRequests; ++i) {
      SCOPED_TRACE(i);
      ASSERT_TRUE(replies_[i].status());
      EXPECT_EQ(replies_[i].finishes(), 1);
      if (i != poison) {
        EXPECT_TRUE(replies_[i].status()->ok()) << *replies_[i].status();
        continue;
      }
      EXPECT_EQ(replies_[i].status()->code(), absl::StatusCode::kInternal);
      EXPECT_THAT(MessageOf(*replies_[i].status()), HasSubstr("model 'm' failed"));
      EXPECT_THAT(MessageOf(*replies_[i].status()), HasSubstr(message));
    }
    EXPECT_EQ(scheduler_.depth(model_->queue()), 0U);
  }

  std::map<std::string, int> calls_;
  FakeReply replies_[kRequests];
  std::shared_ptr<ServedModel> model_;
};

TEST_F(StepFailureTest, InForwardFailsTheRequestAtFaultAlone) {
  RunBatch({.forward = ThrowFor("2", "out of memory")});
  ExpectOnlyFails(2, "out of memory");
}

TEST_F(StepFailureTest, InPrepareFailsTheRequestAtFaultAlone) {
  RunBatch({.prepare = ThrowFor("0", "no phonemes")});
  ExpectOnlyFails(0, "no phonemes");
}

TEST_F(StepFailureTest, InCompleteFailsTheRequestAtFaultAlone) {
  RunBatch({.complete = [fail = ThrowFor("3", "cannot decode")](Request& request) {
    fail(request);
    request.Finish(absl::OkStatus());
  }});
  ExpectOnlyFails(3, "cannot decode");
  EXPECT_THAT(calls_, ::testing::Contains(Pair("0", 1)));  // finished before: not run again
}

TEST_F(StepFailureTest, RefusedShapeIsTheClientsFaultAndNotThatOfTheBatch) {
  RunBatch({.forward = [](Request& request) {
    if (NameOf(request) == "2") throw runtime::ShapeRefused("model 'm/1': shape [1, 3] is new");
  }});
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_TRUE(replies_[i].status()) << i;
    EXPECT_EQ(replies_[i].finishes(), 1);
    EXPECT_EQ(*replies_[i].status(),
              i == 2 ? absl::InvalidArgumentError("inputs: model 'm/1': shape [1, 3] is new")
                     : absl::OkStatus());
  }
}

TEST_F(StepFailureTest, ThatHitsAllFailsAll) {
  RunBatch({.forward = [](Request&) { throw std::runtime_error("device lost"); }});
  for (const FakeReply& reply : replies_) {
    EXPECT_EQ(reply.status()->code(), absl::StatusCode::kInternal);
    EXPECT_EQ(reply.finishes(), 1);
  }
}

TEST_F(StepFailureTest, ThatPassesIsForgotten) {
  bool first = true;
  RunBatch({.forward = [&](Request&) {
    if (std::exchange(first, false)) throw std::runtime_error("once");
  }});
  for (const FakeReply& reply : replies_) EXPECT_TRUE(reply.status()->ok());
}

TEST_F(StepFailureTest, OfACompanyThatNoneIsAtFaultForLetsEachGoOnAlone) {
  size_t together = 0;
  const auto model = MakeModel("m", {.max_batch = 4},
                               {.prepare = [&](Request&) { ++together; },
                                .forward =
                                    [&](Request&) {
                                      if (std::exchange(together, 0) > 1)
                                        throw std::runtime_error("no memory");
                                    },
                                .complete = [](Request&) {}});
  FakeReply replies[3];
  for (FakeReply& reply : replies) ASSERT_TRUE(Submit(model, reply).ok());
  EXPECT_EQ(Pop().size(), 3U);
  Run(std::move(popped_.batch));
  for (const FakeReply& reply : replies) EXPECT_FALSE(reply.status());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Pop().size(), 1U) << i;
}

TEST_F(StepFailureTest, OfASingleRequestIsNotTriedTwice) {
  FakeReply reply;
  const auto model = MakeModel("m", {}, {.forward = ThrowFor("only", "broken")});
  std::vector<std::unique_ptr<Job>> batch;
  batch.push_back(Named(MakeJob(model, reply), "only"));
  Run(std::move(batch));
  EXPECT_EQ(reply.status()->code(), absl::StatusCode::kInternal);
  EXPECT_EQ(calls_["only"], 1);
}

TEST_F(StepFailureTest, ShowsTheFirstLineOfTheMessage) {
  FakeReply reply;
  const auto model = MakeModel("m", {}, {.forward = [](Request&) {
                                 throw std::runtime_error("what it is\nframe #0: trace");
                               }});
  Run(model, {&reply});
  EXPECT_THAT(MessageOf(*reply.status()), HasSubstr("what it is"));
  EXPECT_THAT(MessageOf(*reply.status()), Not(HasSubstr("frame")));
}

TEST_F(StepFailureTest, WithoutAMessageStillFails) {
  FakeReply reply;
  const auto model =
      MakeModel("m", {}, {.forward = [](Request&) { throw std::runtime_error(""); }});
  Run(model, {&reply});
  ASSERT_TRUE(reply.status());
  EXPECT_EQ(reply.status()->code(), absl::StatusCode::kInternal);
}

// The step that failed left the others unfinished: they go on with the next one.
TEST_F(StepFailureTest, OthersThatNeedMoreStepsAreRequeued) {
  FakeReply poison, longer;
  const auto model = MakeModel("m", {.max_batch = 2},
                               {.forward = ThrowFor("poison", "bad"), .complete = [](Request&) {}});
  std::vector<std::unique_ptr<Job>> batch;
  batch.push_back(Named(MakeJob(model, poison), "poison"));
  batch.push_back(Named(MakeJob(model, longer), "longer"));
  Run(std::move(batch));
  EXPECT_EQ(poison.status()->code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(longer.status());
  EXPECT_EQ(scheduler_.depth(model->queue()), 1U);
}

using WarmUpTest = StepTest;

TEST_F(WarmUpTest, RunsEveryInputToItsEnd) {
  int steps = 0;
  FakeModel model({},
                  {.forward = [&](Request&) { ++steps; },
                   .complete =
                       [&](Request& request) {
                         request.Emit(models::InferOutput{});  // thrown away
                         if (steps % 2 == 0) request.Finish(absl::OkStatus());
                       }},
                  3);
  EXPECT_TRUE(WarmUp(model, device_, *context_).ok());
  EXPECT_EQ(steps, 6);
}

TEST_F(WarmUpTest, RunsEachSizeOfBatchThatHasAShapeOfItsOwn) {
  size_t in_step = 0;
  std::vector<size_t> sizes;
  FakeModel model({},
                  {.forward = [&](Request&) { ++in_step; },
                   .complete =
                       [&](Request& request) {
                         if (in_step != 0) sizes.push_back(std::exchange(in_step, 0));
                         request.Finish(absl::OkStatus());
                       }},
                  2);
  model.warm_up_batches = {1, 4};
  EXPECT_TRUE(WarmUp(model, device_, *context_).ok());
  EXPECT_THAT(sizes, ::testing::ElementsAre(1, 1, 4, 4));
}

TEST_F(WarmUpTest, GoesOnWithTheRequestsOfABatchThatNeedMoreSteps) {
  std::map<const Request*, int> steps;
  FakeModel model({},
                  {.complete =
                       [&](Request& request) {
                         // The first that comes is done after one step, the second after two.
                         const size_t nth = steps.emplace(&request, 0).second ? steps.size() : 2;
                         if (++steps[&request] == 2 || nth == 1) request.Finish(absl::OkStatus());
                       }},
                  1);
  model.warm_up_batches = {2};
  EXPECT_TRUE(WarmUp(model, device_, *context_).ok());
  int total = 0;
  for (const auto& [request, count] : steps) total += count;
  EXPECT_EQ(total, 3);
}

TEST_F(WarmUpTest, CanBeOneForwardAlone) {
  int steps = 0;
  FakeModel model({},
                  {.forward = [&](Request&) { ++steps; },
                   .complete = [](Request& request) { request.Finish(absl::OkStatus()); }},
                  3);
  model.warm_up_batches = {1, 4};
  EXPECT_TRUE(WarmUp(model, device_, *context_, WarmUpExtent::kOneForward).ok());
  EXPECT_EQ(steps, 1);
}

TEST_F(WarmUpTest, WithoutInputsIsFine) {
  EXPECT_TRUE(WarmUp(FakeModel({}), device_, *context_).ok());
}

TEST_F(WarmUpTest, InputThatFinishesInPrepareIsFine) {
  FakeModel model({}, {.prepare = [](Request& r) { r.Finish(absl::OkStatus()); }}, 1);
  EXPECT_TRUE(WarmUp(model, device_, *context_).ok());
}

TEST_F(WarmUpTest, ReportsAThrowWithTheModelsName) {
  models::ModelInfo info;
  info.name = "broken";
  FakeModel model(info, {.forward = [](Request&) { throw std::runtime_error("no kernel\ntrace"); }},
                  1);
  const absl::Status status = WarmUp(model, device_, *context_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(MessageOf(status), "warm-up of model 'broken' failed: no kernel");
}

TEST_F(WarmUpTest, ReportsARequestThatFails) {
  FakeModel model({}, {.complete = [](Request& r) { r.Finish(absl::InvalidArgumentError("no")); }},
                  1);
  EXPECT_EQ(WarmUp(model, device_, *context_).code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace millrace::server
