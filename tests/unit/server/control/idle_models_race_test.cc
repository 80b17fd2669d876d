#include <barrier>
#include <chrono>
#include <vector>

#include "tests/fakes/at_once.h"
#include "tests/unit/server/control/idle_models_fixture.h"

namespace millrace::server {
namespace {

using std::chrono::seconds;
using testing::FakeReply;

using IdleModelsRaceTest = IdleModelsTest;

constexpr int kRounds = 200;

TEST_F(IdleModelsRaceTest, RequestsThatArriveTogetherShareOneLoad) {
  AddIdle("m");
  StartWorkers(2);
  constexpr int kClients = 4;
  for (int round = 1; round <= kRounds; ++round) {
    std::barrier start(kClients);
    FakeReply replies[kClients];
    {
      std::vector<JoiningThread> clients;
      for (FakeReply& reply : replies) {
        clients.emplace_back([&] {
          start.arrive_and_wait();
          EXPECT_TRUE(Submit("m", reply).ok());
        });
      }
      RunLoads();
    }
    for (FakeReply& reply : replies) EXPECT_TRUE(reply.Wait().ok());
    RunLoads();
    EXPECT_EQ(testing::MetricOf(*idle_, "millrace_model_loads_on_demand_total{outcome=\"ok\"}"),
              round);
    while (Shown("m").state != ModelState::kIdle) {
      clock_.Advance(seconds(1));
      idle_->Sweep();
    }
  }
}

// The request finds the model before it is unloaded, or the idle one after that.
TEST_F(IdleModelsRaceTest, RequestThatArrivesWhileItsModelIsUnloadedIsServed) {
  AddIdle("m");
  StartWorkers();
  RunLoads();
  std::barrier start(2);
  JoiningThread sweeper([&] {
    for (int round = 0; round < kRounds; ++round) {
      start.arrive_and_wait();
      clock_.Advance(seconds(1));
      idle_->Sweep();
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    FakeReply reply;
    start.arrive_and_wait();
    EXPECT_TRUE(Submit("m", reply).ok());
    EXPECT_TRUE(reply.Wait().ok());
  }
}

// The request is served, or ends because the model was unloaded by name, whichever is first.
TEST_F(IdleModelsRaceTest, RequestEndsWhileItsModelIsUnloadedByName) {
  AddIdle("m");
  StartWorkers();
  RunLoads();
  for (int round = 0; round < kRounds; ++round) {
    FakeReply reply;
    auto job = MakeJob("m", reply);
    testing::AllAtOnce([&] { EXPECT_TRUE(manager_->Unload("m").ok()); },
                       [&] {
                         EXPECT_TRUE(scheduler_.Submit(job).ok());
                         const absl::Status end = reply.Wait();
                         EXPECT_TRUE(end.ok() || absl::IsNotFound(end)) << end;
                       });
    RunLoads();
    EXPECT_EQ(Serving("m"), 0);
    ASSERT_TRUE(manager_->Load("m").ok());
    while (Shown("m").state != ModelState::kIdle) {
      clock_.Advance(seconds(1));
      idle_->Sweep();
    }
  }
}

TEST_F(IdleModelsRaceTest, CallerThatLeavesWhileItsModelIsLoadedEndsOnce) {
  AddIdle("m");
  StartWorkers();
  RunLoads();
  for (int round = 0; round < kRounds; ++round) {
    FakeReply reply;
    const auto model = *directory_.Find("m", "");
    std::barrier start(2);
    {
      const JoiningThread client([&] {
        start.arrive_and_wait();
        reply.Cancel();
        if (auto job = scheduler_.Remove(model->queue(), reply))
          FinishJob(std::move(job), absl::CancelledError("gone"));
      });
      ASSERT_TRUE(Submit("m", reply).ok());
      start.arrive_and_wait();
      const absl::Status end = reply.Wait();
      EXPECT_TRUE(end.ok() || absl::IsCancelled(end)) << end;
    }
    EXPECT_EQ(reply.finishes(), 1);
  }
}

}  // namespace
}  // namespace millrace::server
