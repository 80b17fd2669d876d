#include "server/requests/request_run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "server/scheduling/refusal.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A request whose answer nobody takes, so that it ends when its client leaves.
class UntakenReply final : public Reply {
 public:
  explicit UntakenReply(Services& services) : run(services, Method::kModelInfer, *this) {}
  void Emit(models::Output) override {}
  void Finish(const absl::Status&) override {}

  RequestRun run;
};

class RequestRunTest : public ::testing::Test {
 protected:
  // Returns how a request is counted that the server has `allowed` for and its client `own`, and
  // which its client leaves after `left`.
  StatusCode CountedAs(Duration own, Duration left) {
    UntakenReply reply(backend_.services());
    models::TimeLimit limit(clock_.Now() + seconds(300));
    limit.last = clock_.Now() + own;
    limit.deadline = std::min(limit.deadline, limit.last);
    // The model refuses the input, so that no worker has it.
    EXPECT_FALSE(reply.run.Submit({.model = model_, .input = {}}, limit).ok());
    clock_.Advance(left);
    reply.run.MarkLeft();
    clock_.Advance(seconds(10));  // the worker's step ends later
    reply.run.Record(absl::CancelledError("the caller went away"), [] { return Requester(); });
    for (const StatusCode code : {StatusCode::kCancelled, StatusCode::kDeadlineExceeded}) {
      const double count = backend_.Count("m", Method::kModelInfer, code);
      if (count > counted_[code]) {
        counted_[code] = count;
        return code;
      }
    }
    return StatusCode::kUnknown;
  }

  static models::ModelInfo Named(const std::string& name) {
    models::ModelInfo info;
    info.name = name;
    return info;
  }

  testing::FakeClock clock_;
  TestBackend backend_{TestBackend::Options{.clock = clock_}};
  const std::shared_ptr<ServedModel> model_ = backend_.Add(
      Named("m"), {.validate = [](const models::Input&) { return absl::OutOfRangeError("no"); }});
  std::map<StatusCode, double> counted_;
};

TEST_F(RequestRunTest, AClientThatLeavesAtItsDeadlineHasNotCancelled) {
  EXPECT_EQ(CountedAs(seconds(5), seconds(5)), StatusCode::kDeadlineExceeded);
  // Its deadline passes there before it does here, by the time that its headers took.
  EXPECT_EQ(CountedAs(seconds(5), milliseconds(4990)), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(CountedAs(milliseconds(100), milliseconds(95)), StatusCode::kDeadlineExceeded);
}

TEST_F(RequestRunTest, AClientThatLeavesBeforeHasCancelledWheneverThatIsNoticed) {
  EXPECT_EQ(CountedAs(seconds(5), seconds(4)), StatusCode::kCancelled);
  EXPECT_EQ(CountedAs(milliseconds(100), milliseconds(85)), StatusCode::kCancelled);
  EXPECT_EQ(CountedAs(std::chrono::hours(1), seconds(300)), StatusCode::kCancelled);
}

// A state that a model made when the request was admitted.
struct MadeAhead final : models::RequestState {};

TEST_F(RequestRunTest, PreparesARequestAheadOnceWhereItIsAdmitted) {
  std::atomic<int> ahead{0};
  std::atomic<bool> kept{false};
  Gate gate;
  const std::thread::id here = std::this_thread::get_id();
  const auto model =
      backend_.Add(Named("ahead"), {.prepare_ahead =
                                        [&](models::Request& request) {
                                          EXPECT_EQ(std::this_thread::get_id(), here);
                                          ++ahead;
                                          request.set_state(std::make_unique<MadeAhead>());
                                        },
                                    .prepare =
                                        [&](models::Request& request) {
                                          kept = request.state() != nullptr;
                                          gate.Pass();
                                        }});
  UntakenReply reply(backend_.services());
  ASSERT_TRUE(reply.run.Submit({.model = model, .input = {}}, clock_.Now() + seconds(300)).ok());
  EXPECT_EQ(ahead, 1);
  gate.AwaitInside();
  EXPECT_TRUE(kept);
  gate.Open();
  backend_.CloseScheduler();
  backend_.JoinWorkers();
  EXPECT_EQ(ahead, 1);
}

TEST_F(RequestRunTest, RefusalsAreCountedByTheirReason) {
  const absl::Status refusals[] = {Refused(Refusal::kQueueFull, "full", seconds(1)),
                                   Refused(Refusal::kTooMany, "many", seconds(1)),
                                   Draining(),
                                   Refused(Refusal::kDeadline, "late", seconds(1)),
                                   NeverFitting("long"),
                                   Refused(Refusal::kKeyLimit, "limit", seconds(1)),
                                   Refused(Refusal::kLoading, "loading", seconds(1))};
  for (size_t i = 0; i < kRefusals; ++i) {
    UntakenReply reply(backend_.services());
    reply.run.Record(refusals[i], [] { return Requester(); });
    for (size_t j = 0; j < kRefusals; ++j)
      EXPECT_EQ(backend_.no_model_metrics->refused[j]->Value(), j <= i ? 1 : 0) << i << " " << j;
  }
}

}  // namespace
}  // namespace millrace::server
