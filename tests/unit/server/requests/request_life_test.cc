// How a request of each kind ends, whatever ends it. No gRPC in this process: TSan sees every
// access.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <utility>

#include "mps_runtime/base/joining_thread.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/requests/exchange.h"

namespace millrace::server {
namespace {

using absl::StatusCode;

class RequestLifeTest : public ::testing::TestWithParam<Kind> {
 protected:
  // Holds a model's step until the test opens it.
  testing::ModelHooks Held() {
    return {.forward = [this](models::Request&) { gate_.Pass(); }, .complete = Steps()};
  }
  // A step of a request that was told to stop does nothing more.
  static void UnlessStopped(models::Request& request) {
    if (!request.ShouldStop()) Steps()(request);
  }
  static void ExpectOne(World& world, StatusCode code) {
    world.AwaitQuiet();
    EXPECT_EQ(world.Ended(code), 1) << code;
    EXPECT_EQ(world.Ended(), 1);
  }

  testing::FakeClock clock_;
  Gate gate_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, RequestLifeTest, ::testing::ValuesIn(AllKinds()), NameOf);

TEST_P(RequestLifeTest, EndsWellIsCountedOnceAndGivesItsPlaceBack) {
  World world(GetParam());
  const auto exchange = world.NewExchange();
  EXPECT_EQ(exchange->Run(), absl::OkStatus());
  EXPECT_GT(exchange->received(), 0U);
  ExpectOne(world, StatusCode::kOk);
}

TEST_P(RequestLifeTest, ForAModelThatIsNotThereIsNotFound) {
  World world(GetParam());
  world.RemoveModels();
  EXPECT_EQ(world.NewExchange()->Run().code(), StatusCode::kNotFound);
  ExpectOne(world, StatusCode::kNotFound);
}

TEST_P(RequestLifeTest, ThatItsModelRefusesEndsWithTheModelsReason) {
  World world(GetParam(),
              {.validate = [](const models::Input&) { return absl::OutOfRangeError("too much"); }});
  EXPECT_EQ(world.NewExchange()->Run(), absl::OutOfRangeError("too much"));
  ExpectOne(world, StatusCode::kOutOfRange);
}

TEST_P(RequestLifeTest, ThatThrowsBeforeItIsQueuedEndsInternal) {
  World world(GetParam(), {.validate = [](const models::Input&) -> absl::Status {
                throw std::length_error("too long");
              }});
  EXPECT_EQ(world.NewExchange()->Run(), absl::InternalError("too long"));
  ExpectOne(world, StatusCode::kInternal);
}

TEST_P(RequestLifeTest, IsRefusedWhenTheServerIsFull) {
  World world(GetParam(), Held(), {.max_requests = 1});
  const auto first = world.NewExchange();
  first->Begin();
  // The text of a stream is read by its transport's thread.
  JoiningThread runs([&] { EXPECT_EQ(first->RunToEnd(), absl::OkStatus()); });
  gate_.AwaitInside();
  EXPECT_EQ(world.NewExchange()->Run().code(), StatusCode::kResourceExhausted);
  gate_.Open();
  runs.join();
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(StatusCode::kOk), 1);
  EXPECT_EQ(world.Ended(), 2);
}

TEST_P(RequestLifeTest, IsRefusedWhenItsQueueIsFull) {
  World world(GetParam(), Held(), {.workers = 1, .queue_size = 1});
  const auto first = world.NewExchange();
  const auto second = world.NewExchange();
  first->Begin();
  JoiningThread runs_first([&] { EXPECT_EQ(first->RunToEnd(), absl::OkStatus()); });
  gate_.AwaitInside();
  second->Begin();
  JoiningThread runs_second([&] { EXPECT_EQ(second->RunToEnd(), absl::OkStatus()); });
  Await([&] { return world.waiting() == 1; });
  EXPECT_EQ(world.NewExchange()->Run().code(), StatusCode::kResourceExhausted);
  gate_.Open();
  runs_first.join();
  runs_second.join();
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(StatusCode::kOk), 2);
  EXPECT_EQ(world.Ended(StatusCode::kResourceExhausted), 1);
}

TEST_P(RequestLifeTest, IsRefusedOnceTheServerDrains) {
  World world(GetParam());
  world.backend.admission.Close();
  EXPECT_EQ(world.NewExchange()->Run().code(), StatusCode::kUnavailable);
  ExpectOne(world, StatusCode::kUnavailable);
}

TEST_P(RequestLifeTest, ThatWasLetInGoesOnDuringADrain) {
  World world(GetParam(), Held());
  const auto exchange = world.NewExchange();
  exchange->Begin();
  JoiningThread runs([&] { EXPECT_EQ(exchange->RunToEnd(), absl::OkStatus()); });
  gate_.AwaitInside();
  world.backend.admission.Close();
  EXPECT_FALSE(world.backend.admission.WaitUntilEmpty(std::chrono::steady_clock::now()));
  gate_.Open();
  EXPECT_TRUE(world.backend.admission.WaitUntilEmpty(std::chrono::steady_clock::time_point::max()));
  runs.join();
  ExpectOne(world, StatusCode::kOk);
}

TEST_P(RequestLifeTest, ThatWaitsWhenTheServerStopsIsUnavailable) {
  World world(GetParam(), Held(), {.workers = 1});
  const auto runs = world.NewExchange();
  const auto waits = world.NewExchange();
  runs->Begin();
  absl::Status end_of_first;
  JoiningThread runs_first([&] { end_of_first = runs->RunToEnd(); });
  gate_.AwaitInside();
  waits->Begin();
  JoiningThread runs_second([&] { EXPECT_EQ(waits->RunToEnd().code(), StatusCode::kUnavailable); });
  Await([&] { return world.waiting() == 1; });
  world.backend.CloseScheduler();
  runs_second.join();
  gate_.Open();
  runs_first.join();
  // Its second model does not begin any more.
  EXPECT_EQ(end_of_first.code(), world.kind.pivots ? StatusCode::kUnavailable : StatusCode::kOk);
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(), 2);
}

TEST_P(RequestLifeTest, ThatWaitsLeavesTheQueueWithItsClient) {
  World world(GetParam(), Held(), {.workers = 1});
  const auto runs = world.NewExchange();
  const auto waits = world.NewExchange();
  runs->Begin();
  JoiningThread runs_first([&] { EXPECT_EQ(runs->RunToEnd(), absl::OkStatus()); });
  gate_.AwaitInside();
  waits->Begin();
  JoiningThread runs_second([&] { EXPECT_EQ(waits->RunToEnd().code(), StatusCode::kCancelled); });
  Await([&] { return world.waiting() == 1; });
  waits->Leave();
  runs_second.join();
  EXPECT_EQ(world.waiting(), 0U);
  Await([&] { return world.Ended(StatusCode::kCancelled) == 1; });
  EXPECT_EQ(world.backend.admission.in_flight(), 1);
  gate_.Open();
  runs_first.join();
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(), 2);
}

TEST_P(RequestLifeTest, ThatRunsStopsWithItsClient) {
  World world(GetParam(), {.forward =
                               [this](models::Request& request) {
                                 gate_.Pass();
                                 Await([&] { return request.cancelled(); });
                               },
                           .complete = UnlessStopped});
  gate_.Open();
  const auto exchange = world.NewExchange();
  exchange->Begin();
  JoiningThread runs([&] { EXPECT_EQ(exchange->RunToEnd().code(), StatusCode::kCancelled); });
  gate_.AwaitInside();
  exchange->Leave();
  runs.join();
  ExpectOne(world, StatusCode::kCancelled);
}

// Its client leaves while the step runs that ends it.
TEST_P(RequestLifeTest, ThatEndsWithItsClientGoneIsCountedOnce) {
  World world(GetParam(), {.forward =
                               [this](models::Request& request) {
                                 gate_.Pass();
                                 Await([&] { return request.cancelled(); });
                               },
                           .complete = Steps()});
  gate_.Open();
  const auto exchange = world.NewExchange();
  exchange->Begin();
  JoiningThread runs([&] { exchange->RunToEnd().IgnoreError(); });
  gate_.AwaitInside();
  exchange->Leave();
  runs.join();
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(), 1);
  EXPECT_EQ(world.Ended(StatusCode::kCancelled) + world.Ended(StatusCode::kOk), 1);
  // The client did not get a reply that was to leave the server while it was made.
  if (world.kind.streams || world.kind.is_http) {
    EXPECT_EQ(world.Ended(StatusCode::kOk), 0);
  }
}

TEST_P(RequestLifeTest, ThatWaitsBeyondItsDeadlineIsTakenOut) {
  World world(GetParam(), Held(), {.workers = 1, .clock = clock_});
  const auto runs = world.NewExchange();
  const auto waits = world.NewExchange();
  runs->Begin();
  JoiningThread runs_first([&] { runs->RunToEnd().IgnoreError(); });
  gate_.AwaitInside();
  waits->Begin();
  JoiningThread runs_second(
      [&] { EXPECT_EQ(waits->RunToEnd().code(), StatusCode::kDeadlineExceeded); });
  Await([&] { return world.waiting() == 1; });
  clock_.Advance(std::chrono::hours(2));
  for (auto& job : world.backend.scheduler.TakeExpired()) {
    const absl::Status why = StopStatus(job->request);
    FinishJob(std::move(job), why);
  }
  runs_second.join();
  EXPECT_EQ(world.Ended(StatusCode::kDeadlineExceeded), 1);
  gate_.Open();
  runs_first.join();
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(), 2);
}

TEST_P(RequestLifeTest, ThatRunsBeyondItsDeadlineStops) {
  World world(GetParam(),
              {.forward = [this](models::Request&) { clock_.Advance(std::chrono::hours(2)); },
               .complete = UnlessStopped},
              {.clock = clock_});
  EXPECT_EQ(world.NewExchange()->Run().code(), StatusCode::kDeadlineExceeded);
  ExpectOne(world, StatusCode::kDeadlineExceeded);
}

TEST_P(RequestLifeTest, WhoseStepThrowsEndsInternal) {
  World world(GetParam(),
              {.forward = [](models::Request&) { throw std::runtime_error("device lost"); }});
  const absl::Status status = world.NewExchange()->Run();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("device lost"), absl::string_view::npos) << status;
  ExpectOne(world, StatusCode::kInternal);
}

// The step fails after its output was taken.
TEST_P(RequestLifeTest, WhoseStepFailsForWantOfMemoryEndsInternal) {
  World world(GetParam(), {.complete = [](models::Request& request) {
                Steps{.count = 2}(request);
                throw std::bad_alloc();
              }});
  EXPECT_EQ(world.NewExchange()->Run().code(), StatusCode::kInternal);
  ExpectOne(world, StatusCode::kInternal);
}

TEST_P(RequestLifeTest, OutlivesTheServiceOfItsModel) {
  std::atomic<bool> destroyed{false};
  World world(GetParam(), {.forward = [this](models::Request&) { gate_.Pass(); },
                           .complete = Steps(),
                           .destroyed = [&] { destroyed = true; }});
  const auto exchange = world.NewExchange();
  exchange->Begin();
  JoiningThread runs([&] { EXPECT_EQ(exchange->RunToEnd(), absl::OkStatus()); });
  gate_.AwaitInside();
  world.RemoveModels();
  EXPECT_FALSE(destroyed);
  gate_.Open();
  runs.join();
  Await([&] { return destroyed.load(); });
  ExpectOne(world, StatusCode::kOk);
}

}  // namespace
}  // namespace millrace::server
