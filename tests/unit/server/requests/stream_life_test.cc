// Replies that leave the server while others are made: slow clients, stalls, drains. No gRPC in
// this process: TSan sees every access.

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <stdexcept>

#include "mps_runtime/base/joining_thread.h"
#include "tests/fakes/at_once.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/requests/exchange.h"
#include "tests/unit/server/requests/infer_request.h"

namespace millrace::server {
namespace {

using absl::StatusCode;

// One output is more than may wait.
constexpr size_t kPartBytes = 4 << 10;
const TestBackend::Options kNarrow = {.workers = 1, .max_buffered_bytes = 1 << 10};
constexpr size_t kParts = 20;

class StreamLifeTest : public ::testing::TestWithParam<Kind> {
 protected:
  testing::ModelHooks Parts(size_t count = kParts) {
    return {.complete = [this, count](models::Request& request) {
      Steps{count, kPartBytes}(request);
      ++steps_;
    }};
  }
  // Waits until the job of the only client, who reads nothing, is parked: the only worker has
  // served another one after it.
  void AwaitParked(World& world) {
    Await([this] { return steps_ == 1; });
    std::atomic<bool> served{false};
    world.backend.Add(InferInfo("other"), {.complete = [&](models::Request& request) {
                        served = true;
                        Echo(request);
                      }});
    InferService service(world.backend.services(), [] { return true; });
    testing::FakeCall call(InferRequest("other").SerializeAsString());
    call.Begin(service, "ModelInfer");
    EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
    EXPECT_TRUE(served);
    EXPECT_EQ(steps_, 1);
  }
  static void ExpectOne(World& world, StatusCode code) {
    world.AwaitQuiet();
    EXPECT_EQ(world.Ended(code), 1) << code;
    EXPECT_EQ(world.Ended(), 1);
  }
  // Runs an exchange whose client reads nothing until its job is parked, and `then` at that
  // moment.
  template <typename Then>
  void EndParked(World& world, StatusCode end, const Then& then) {
    const auto exchange = world.NewExchange();
    exchange->StopReading();
    exchange->Begin();
    JoiningThread runs([&] { EXPECT_EQ(exchange->RunToEnd().code(), end); });
    AwaitParked(world);
    then(*exchange);
    runs.join();
    ExpectOne(world, end);
  }

  testing::FakeClock clock_;
  const TestBackend::Options narrow_on_clock_ = {
      .workers = 1, .max_buffered_bytes = kNarrow.max_buffered_bytes, .clock = clock_};
  std::atomic<int> steps_{0};
};

INSTANTIATE_TEST_SUITE_P(Kinds, StreamLifeTest, ::testing::ValuesIn(StreamingKinds()), NameOf);

TEST_P(StreamLifeTest, AllPartsArrive) {
  World world(GetParam(), Parts());
  const auto exchange = world.NewExchange();
  EXPECT_EQ(exchange->Run(), absl::OkStatus());
  EXPECT_GE(exchange->received(), kParts);
  EXPECT_EQ(steps_, kParts);
  ExpectOne(world, StatusCode::kOk);
}

TEST_P(StreamLifeTest, ASlowReaderHoldsNoWorkerAndGetsItAll) {
  World world(GetParam(), Parts(), kNarrow);
  EndParked(world, StatusCode::kOk, [](Exchange& exchange) { exchange.ReadOn(); });
  EXPECT_EQ(steps_, kParts);
}

TEST_P(StreamLifeTest, AClientThatLeavesWithItsJobParkedEndsIt) {
  World world(GetParam(), Parts(), kNarrow);
  EndParked(world, StatusCode::kCancelled, [](Exchange& exchange) { exchange.Leave(); });
  EXPECT_EQ(steps_, 1);
}

TEST_P(StreamLifeTest, AJobThatIsParkedWhenTheServerStopsIsUnavailable) {
  World world(GetParam(), Parts(), kNarrow);
  EndParked(world, StatusCode::kUnavailable, [&](Exchange& exchange) {
    world.backend.CloseScheduler();
    exchange.ReadOn();
  });
  EXPECT_EQ(steps_, 1);
}

// A translation has a deadline as a whole; speech that is heard only must go on.
TEST_P(StreamLifeTest, AJobThatIsParkedForHoursGoesOnOnlyIfItIsSpeech) {
  const bool ends = TaskOf(GetParam().method) != models::Task::kSynthesis;
  World world(GetParam(), Parts(), narrow_on_clock_);
  EndParked(world, ends ? StatusCode::kDeadlineExceeded : StatusCode::kOk, [&](Exchange& exchange) {
    clock_.Advance(std::chrono::hours(2));
    exchange.ReadOn();
  });
  EXPECT_EQ(steps_, ends ? 1 : kParts);
}

TEST_P(StreamLifeTest, AClientThatReadsNothingLosesItsCall) {
  if (GetParam().is_http) GTEST_SKIP() << "HTTP's own time limit of a write does that";
  World world(GetParam(), Parts(), narrow_on_clock_);
  EndParked(world, StatusCode::kCancelled, [&](Exchange&) {
    EXPECT_EQ(world.backend.streams.AbortStalled(clock_.Now()), 0);
    clock_.Advance(std::chrono::minutes(5));
    EXPECT_EQ(world.backend.streams.AbortStalled(clock_.Now()), 1);
  });
  EXPECT_EQ(world.backend.streams.AbortStalled(clock_.Now()), 0);
}

// All work done is not the end.
TEST_P(StreamLifeTest, ADrainWaitsForTheReader) {
  World world(GetParam(), Parts(1));
  const auto exchange = world.NewExchange();
  exchange->StopReading();
  exchange->Begin();
  JoiningThread runs([&] { EXPECT_EQ(exchange->RunToEnd(), absl::OkStatus()); });
  Await([this] { return steps_ == 1; });
  world.backend.admission.Close();
  world.backend.CloseScheduler();
  world.backend.JoinWorkers();
  EXPECT_EQ(world.backend.admission.in_flight(), 1);
  EXPECT_EQ(world.Ended(), 0);
  exchange->ReadOn();
  EXPECT_TRUE(world.backend.admission.WaitUntilEmpty(std::chrono::steady_clock::time_point::max()));
  runs.join();
  ExpectOne(world, StatusCode::kOk);
}

TEST_P(StreamLifeTest, AnErrorDoesNotWaitBehindWhatTheClientHasNotTaken) {
  World world(GetParam(), {.complete = [this](models::Request& request) {
                if (++steps_ == 4) throw std::runtime_error("device lost");
                Steps{kParts, kPartBytes}(request);
              }});
  const auto exchange = world.NewExchange();
  exchange->StopReading();
  exchange->Begin();
  JoiningThread runs([&] { EXPECT_EQ(exchange->RunToEnd().code(), StatusCode::kInternal); });
  Await([this] { return steps_ == 4; });
  world.backend.CloseScheduler();
  world.backend.JoinWorkers();
  exchange->ReadOn();
  runs.join();
  // At most what was being written already.
  EXPECT_LE(exchange->received(), 1U);
  ExpectOne(world, StatusCode::kInternal);
}

// Each step is parked, or just not, as the client reads.
TEST_P(StreamLifeTest, TheClientReadsAsItsJobIsParked) {
  constexpr size_t kMany = 200;
  World world(GetParam(), Parts(kMany), kNarrow);
  for (int i = 1; i <= 3; ++i) {
    const auto exchange = world.NewExchange();
    EXPECT_EQ(exchange->Run(), absl::OkStatus());
    EXPECT_EQ(steps_, i * kMany);
  }
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(StatusCode::kOk), 3);
}

// Between the decision to park a job and its parking.
TEST_P(StreamLifeTest, TheClientCatchesUpBeforeItsJobIsParked) {
  std::unique_ptr<Exchange> exchange;
  World world(GetParam(),
              {.complete = Steps{kParts, kPartBytes,
                                 [&] {
                                   exchange->ReadOn();
                                   Await([&] { return exchange->has_taken(); });
                                 }}},
              kNarrow);
  exchange = world.NewExchange();
  exchange->StopReading();
  exchange->Begin();
  EXPECT_EQ(exchange->RunToEnd(), absl::OkStatus());
  ExpectOne(world, StatusCode::kOk);
}

TEST_P(StreamLifeTest, TheClientLeavesBeforeItsJobIsParked) {
  std::unique_ptr<Exchange> exchange;
  World world(GetParam(),
              {.complete = Steps{kParts, kPartBytes,
                                 [&] {
                                   exchange->Leave();
                                   Await([&] { return exchange->is_gone(); });
                                 }}},
              kNarrow);
  exchange = world.NewExchange();
  exchange->StopReading();
  exchange->Begin();
  EXPECT_EQ(exchange->RunToEnd().code(), StatusCode::kCancelled);
  ExpectOne(world, StatusCode::kCancelled);
}

TEST_P(StreamLifeTest, TheClientLeavesAsItsJobIsParked) {
  constexpr int kRounds = 20;
  std::barrier start(2);
  World world(GetParam(),
              {.complete =
                   [&](models::Request& request) {
                     Steps{kParts, kPartBytes}(request);
                     start.arrive_and_wait();
                   }},
              kNarrow);
  for (int i = 0; i < kRounds; ++i) {
    const auto exchange = world.NewExchange();
    exchange->StopReading();
    exchange->Begin();
    JoiningThread leaves([&] {
      start.arrive_and_wait();
      exchange->Leave();
    });
    EXPECT_EQ(exchange->RunToEnd().code(), StatusCode::kCancelled);
  }
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(StatusCode::kCancelled), kRounds);
}

TEST_P(StreamLifeTest, TheClientReadsOnAsTheServerStops) {
  for (int i = 0; i < 8; ++i) {
    steps_ = 0;
    World world(GetParam(), Parts(), kNarrow);
    const auto exchange = world.NewExchange();
    exchange->StopReading();
    exchange->Begin();
    absl::Status end;
    JoiningThread runs([&] { end = exchange->RunToEnd(); });
    AwaitParked(world);
    testing::AllAtOnce([&] { world.backend.CloseScheduler(); }, [&] { exchange->ReadOn(); });
    runs.join();
    EXPECT_TRUE(end.ok() || absl::IsUnavailable(end)) << end;
    world.AwaitQuiet();
    EXPECT_EQ(world.Ended(), 1);
  }
}

TEST_P(StreamLifeTest, AStallIsFoundAsTheClientReadsOn) {
  if (GetParam().is_http) GTEST_SKIP() << "HTTP's own time limit of a write does that";
  for (int i = 0; i < 8; ++i) {
    steps_ = 0;
    World world(GetParam(), Parts(), narrow_on_clock_);
    const auto exchange = world.NewExchange();
    exchange->StopReading();
    exchange->Begin();
    absl::Status end;
    JoiningThread runs([&] { end = exchange->RunToEnd(); });
    AwaitParked(world);
    clock_.Advance(std::chrono::minutes(5));
    int aborted = 0;
    testing::AllAtOnce([&] { aborted = world.backend.streams.AbortStalled(clock_.Now()); },
                       [&] { exchange->ReadOn(); });
    runs.join();
    if (aborted == 0) {
      EXPECT_EQ(end, absl::OkStatus());
    }
    world.AwaitQuiet();
    EXPECT_EQ(world.Ended(), 1);
  }
}

}  // namespace
}  // namespace millrace::server
