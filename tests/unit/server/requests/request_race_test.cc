// Two things happen to a request at the same moment. Each race begins at a barrier. No gRPC in this
// process: TSan sees every access.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "tests/fakes/at_once.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/requests/exchange.h"

namespace millrace::server {
namespace {

using absl::StatusCode;

constexpr int kRaceRounds = 20;
// Rounds of tests that make all anew in each.
constexpr int kWorlds = 8;

class RequestRaceTest : public ::testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, RequestRaceTest, ::testing::ValuesIn(AllKinds()), NameOf);

bool IsOneOf(StatusCode code, std::initializer_list<StatusCode> codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

TEST_P(RequestRaceTest, TwoAtOnceBothEndWell) {
  World world(GetParam());
  std::barrier start(2);
  const auto client = [&] {
    for (int i = 0; i < kRaceRounds; ++i) {
      const auto exchange = world.NewExchange();
      start.arrive_and_wait();
      EXPECT_EQ(exchange->Run(), absl::OkStatus());
    }
  };
  {
    JoiningThread one(client);
    JoiningThread other(client);
  }
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(StatusCode::kOk), 2 * kRaceRounds);
  EXPECT_EQ(world.Ended(), 2 * kRaceRounds);
}

TEST_P(RequestRaceTest, ClientLeavesAsTheStepEnds) {
  std::barrier start(2);
  World world(GetParam(),
              {.forward = [&](models::Request&) { start.arrive_and_wait(); }, .complete = Steps()});
  for (int i = 0; i < kRaceRounds; ++i) {
    const auto exchange = world.NewExchange();
    exchange->Begin();
    JoiningThread leaves([&] {
      start.arrive_and_wait();
      exchange->Leave();
    });
    EXPECT_TRUE(IsOneOf(exchange->RunToEnd().code(), {StatusCode::kOk, StatusCode::kCancelled}));
  }
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(), kRaceRounds);
}

TEST_P(RequestRaceTest, ClientLeavesAsItsRequestArrives) {
  World world(GetParam());
  for (int i = 0; i < kRaceRounds; ++i) {
    const auto exchange = world.NewExchange();
    testing::AllAtOnce([&] { exchange->Leave(); }, [&] { exchange->Run().IgnoreError(); });
  }
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(), kRaceRounds);
}

// A long message is taken in on a thread of its own, while the transport tells of the rest.
TEST_P(RequestRaceTest, RequestArrivesOnAThreadOfItsOwnAsItsClientLeaves) {
  if (GetParam().is_http) GTEST_SKIP() << "a request over HTTP has one thread";
  World world(GetParam());
  for (int i = 0; i < kRaceRounds; ++i) {
    const auto exchange = world.NewExchange();
    testing::AllAtOnce([&] { exchange->Begin(); },
                       [&] {
                         if (i % 2 == 0) exchange->Leave();
                       },
                       [&] {
                         const absl::Status status = exchange->RunToEnd();
                         if (i % 2 != 0) {
                           EXPECT_EQ(status, absl::OkStatus());
                         }
                       });
  }
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(), kRaceRounds);
}

TEST_P(RequestRaceTest, ServerStopsAsTheStepEnds) {
  for (int i = 0; i < kWorlds; ++i) {
    std::barrier start(2);
    World world(GetParam(), {.forward = [&](models::Request&) { start.arrive_and_wait(); },
                             .complete = Steps()});
    const auto exchange = world.NewExchange();
    exchange->Begin();
    JoiningThread stops([&] {
      start.arrive_and_wait();
      world.backend.CloseScheduler();
    });
    EXPECT_TRUE(IsOneOf(exchange->RunToEnd().code(), {StatusCode::kOk, StatusCode::kUnavailable}));
    world.AwaitQuiet();
    EXPECT_EQ(world.Ended(), 1);
  }
}

TEST_P(RequestRaceTest, ServerStopsAsItsClientLeaves) {
  for (int i = 0; i < kWorlds; ++i) {
    Gate gate;
    std::barrier start(2);
    World world(GetParam(),
                {.forward = [&](models::Request&) { gate.Pass(); }, .complete = Steps()},
                {.workers = 1});
    const auto runs = world.NewExchange();
    const auto waits = world.NewExchange();
    runs->Begin();
    JoiningThread runs_first([&] { runs->RunToEnd().IgnoreError(); });
    gate.AwaitInside();
    waits->Begin();
    JoiningThread runs_second([&] {
      EXPECT_TRUE(
          IsOneOf(waits->RunToEnd().code(), {StatusCode::kCancelled, StatusCode::kUnavailable}));
    });
    Await([&] { return world.waiting() == 1; });
    JoiningThread leaves([&] {
      start.arrive_and_wait();
      waits->Leave();
    });
    start.arrive_and_wait();
    world.backend.CloseScheduler();
    runs_second.join();
    gate.Open();
    runs_first.join();
    world.AwaitQuiet();
    EXPECT_EQ(world.Ended(), 2);
  }
}

TEST_P(RequestRaceTest, DrainBeginsAsARequestArrives) {
  for (int i = 0; i < kWorlds; ++i) {
    World world(GetParam());
    const auto exchange = world.NewExchange();
    testing::AllAtOnce(
        [&] {
          world.backend.admission.Close();
          EXPECT_TRUE(
              world.backend.admission.WaitUntilEmpty(std::chrono::steady_clock::time_point::max()));
        },
        [&] {
          EXPECT_TRUE(IsOneOf(exchange->Run().code(), {StatusCode::kOk, StatusCode::kUnavailable}));
        });
    EXPECT_EQ(world.Ended(), 1);
  }
}

TEST_P(RequestRaceTest, DeadlinePassesAsTheStepEnds) {
  for (int i = 0; i < kWorlds; ++i) {
    testing::FakeClock clock;
    std::barrier start(2);
    World world(GetParam(),
                {.forward = [&](models::Request&) { start.arrive_and_wait(); },
                 .complete =
                     [](models::Request& request) {
                       if (!request.ShouldStop()) Steps()(request);
                     }},
                {.clock = clock});
    const auto exchange = world.NewExchange();
    exchange->Begin();
    JoiningThread passes([&] {
      start.arrive_and_wait();
      clock.Advance(std::chrono::hours(2));
      for (auto& job : world.backend.scheduler.TakeExpired()) {
        const absl::Status why = StopStatus(job->request);
        FinishJob(std::move(job), why);
      }
    });
    EXPECT_TRUE(
        IsOneOf(exchange->RunToEnd().code(), {StatusCode::kOk, StatusCode::kDeadlineExceeded}));
    world.AwaitQuiet();
    EXPECT_EQ(world.Ended(), 1);
  }
}

TEST_P(RequestRaceTest, DeadlinePassesAsItsClientLeaves) {
  for (int i = 0; i < kWorlds; ++i) {
    testing::FakeClock clock;
    Gate gate;
    World world(GetParam(),
                {.forward = [&](models::Request&) { gate.Pass(); }, .complete = Steps()},
                {.workers = 1, .clock = clock});
    const auto runs = world.NewExchange();
    const auto waits = world.NewExchange();
    runs->Begin();
    JoiningThread runs_first([&] { runs->RunToEnd().IgnoreError(); });
    gate.AwaitInside();
    waits->Begin();
    JoiningThread runs_second([&] {
      EXPECT_TRUE(IsOneOf(waits->RunToEnd().code(),
                          {StatusCode::kCancelled, StatusCode::kDeadlineExceeded}));
    });
    Await([&] { return world.waiting() == 1; });
    std::barrier start(2);
    JoiningThread leaves([&] {
      start.arrive_and_wait();
      waits->Leave();
    });
    start.arrive_and_wait();
    clock.Advance(std::chrono::hours(2));
    for (auto& job : world.backend.scheduler.TakeExpired()) {
      const absl::Status why = StopStatus(job->request);
      FinishJob(std::move(job), why);
    }
    runs_second.join();
    gate.Open();
    runs_first.join();
    world.AwaitQuiet();
    EXPECT_EQ(world.Ended(), 2);
  }
}

TEST_P(RequestRaceTest, StepFailsAsItsClientLeaves) {
  std::barrier start(2);
  World world(GetParam(), {.forward = [&](models::Request&) {
                start.arrive_and_wait();
                throw std::runtime_error("device lost");
              }});
  for (int i = 0; i < kRaceRounds; ++i) {
    const auto exchange = world.NewExchange();
    exchange->Begin();
    JoiningThread leaves([&] {
      start.arrive_and_wait();
      exchange->Leave();
    });
    EXPECT_TRUE(
        IsOneOf(exchange->RunToEnd().code(), {StatusCode::kInternal, StatusCode::kCancelled}));
  }
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(), kRaceRounds);
}

TEST_P(RequestRaceTest, OnePlaceIsHadByOneRequestAtATime) {
  constexpr int kClients = 3;
  std::atomic<int> inside{0};
  World world(GetParam(),
              {.forward = [&](models::Request&) { EXPECT_EQ(++inside, 1); },
               .complete =
                   [&](models::Request& request) {
                     --inside;
                     Steps()(request);
                   }},
              {.max_requests = 1});
  std::barrier start(kClients);
  std::atomic<int> served{0};
  {
    std::vector<JoiningThread> clients;
    for (int c = 0; c < kClients; ++c) {
      clients.emplace_back([&] {
        for (int i = 0; i < kRaceRounds; ++i) {
          const auto exchange = world.NewExchange();
          start.arrive_and_wait();
          const absl::Status status = exchange->Run();
          EXPECT_TRUE(IsOneOf(status.code(), {StatusCode::kOk, StatusCode::kResourceExhausted}));
          if (status.ok()) ++served;
        }
      });
    }
  }
  world.AwaitQuiet();
  EXPECT_GT(served, 0);
  EXPECT_EQ(world.Ended(StatusCode::kOk), served);
  EXPECT_EQ(world.Ended(), kClients * kRaceRounds);
}

TEST_P(RequestRaceTest, ModelIsReplacedAsRequestsArrive) {
  World world(GetParam());
  std::barrier start(2);
  JoiningThread replaces([&] {
    for (int i = 0; i < kRaceRounds; ++i) {
      start.arrive_and_wait();
      world.RemoveModels();
      world.AddModels();
    }
  });
  for (int i = 0; i < kRaceRounds; ++i) {
    const auto exchange = world.NewExchange();
    start.arrive_and_wait();
    EXPECT_TRUE(IsOneOf(exchange->Run().code(), {StatusCode::kOk, StatusCode::kNotFound}));
  }
  replaces.join();
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(), kRaceRounds);
}

TEST_P(RequestRaceTest, ManyWithEveryFateAreEachCountedOnce) {
  constexpr int kClients = 4;
  constexpr int kEach = 12;
  World world(GetParam());
  testing::AtOnce(kClients, [&](int c) {
    for (int i = 0; i < kEach; ++i) {
      const auto exchange = world.NewExchange();
      const int fate = (c + i) % 4;
      if (fate == 1) exchange->Leave();
      exchange->Begin();
      if (fate == 2) exchange->Leave();
      const absl::Status status = exchange->RunToEnd();
      if (fate == 0 || fate == 3) {
        EXPECT_EQ(status, absl::OkStatus());
      }
    }
  });
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(), kClients * kEach);
  EXPECT_GE(world.Ended(StatusCode::kOk), kClients * kEach / 2);
}

}  // namespace
}  // namespace millrace::server
