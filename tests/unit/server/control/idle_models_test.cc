#include "server/control/idle_models.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "server/scheduling/refusal.h"
#include "tests/unit/server/control/idle_models_fixture.h"

namespace millrace::server {
namespace {

using models::Request;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeReply;
using ::testing::HasSubstr;
using testing::MetricOf;

std::string_view TextOf(const std::optional<absl::Status>& status) {
  if (!status) return "none";
  return {status->message().data(), status->message().size()};
}

absl::StatusCode CodeOf(const std::optional<absl::Status>& status) {
  return status ? status->code() : absl::StatusCode::kUnknown;
}

TEST_F(IdleModelsTest, UnloadsAModelThatWasIdleForSoLong) {
  Use({.unload_after = seconds(60)});
  int destroyed = 0;
  hooks_["m"].destroyed = [&] { ++destroyed; };
  AddAndLoad("m");
  clock_.Advance(seconds(59));
  idle_->Sweep();
  EXPECT_EQ(Shown("m").state, ModelState::kReady);
  clock_.Advance(seconds(1));
  idle_->Sweep();
  EXPECT_EQ(Shown("m").state, ModelState::kIdle);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(Serving("m"), 1);
  EXPECT_EQ(MetricOf(*idle_, "millrace_model_unloads_total{reason=\"idle\"}"), 1);
  idle_->Sweep();
  EXPECT_EQ(MetricOf(*idle_, "millrace_model_unloads_total{reason=\"idle\"}"), 1);
}

TEST_F(IdleModelsTest, ModelStaysWhileARequestWaitsOrHoldsIt) {
  Use({.unload_after = seconds(60)});
  AddAndLoad("m");
  FakeReply reply;
  ASSERT_TRUE(Submit("m", reply).ok());
  clock_.Advance(seconds(600));
  idle_->Sweep();
  EXPECT_EQ(Shown("m").state, ModelState::kReady);
  // It left the queue, as a job that waits for its client does.
  auto parked = scheduler_.Remove((*directory_.Find("m", ""))->queue(), reply);
  idle_->Sweep();
  EXPECT_EQ(Shown("m").state, ModelState::kReady);
  FinishJob(std::move(parked), absl::OkStatus());
  idle_->Sweep();
  EXPECT_EQ(Shown("m").state, ModelState::kIdle);
}

TEST_F(IdleModelsTest, RequestsLoadTheModelOnceAndAreServed) {
  AddIdle("m");
  FakeReply a, b;
  ASSERT_TRUE(Submit("m", a).ok());
  ASSERT_TRUE(Submit("m", b).ok());
  EXPECT_EQ(MetricOf(*idle_, "millrace_requests_waiting_for_load"), 2);
  StartWorkers();
  RunLoads();
  EXPECT_TRUE(a.Wait().ok());
  EXPECT_TRUE(b.Wait().ok());
  EXPECT_EQ(loads_["m"], 1);
  EXPECT_EQ(Shown("m").state, ModelState::kReady);
  EXPECT_EQ(MetricOf(*idle_, "millrace_model_loads_on_demand_total{outcome=\"ok\"}"), 1);
  EXPECT_EQ(MetricOf(*idle_, "millrace_requests_waiting_for_load"), 0);
}

TEST_F(IdleModelsTest, ModelIsReadyWhileItIsIdleAndLoaded) {
  std::vector<bool> told;
  AddIdle("m");
  manager_->SetListener(
      [&](std::string_view, std::optional<bool> ready) { told.push_back(ready.value_or(false)); });
  warm_up_inputs_ = 1;
  hooks_["m"].forward = [&](Request&) { EXPECT_EQ(Shown("m").state, ModelState::kIdle); };
  FakeReply reply;
  ASSERT_TRUE(Submit("m", reply).ok());
  RunLoads();
  manager_->SetListener(nullptr);
  EXPECT_THAT(told, ElementsAre(true, true, true));
}

TEST_F(IdleModelsTest, LoadedModelMayBecomeIdleAgain) {
  AddIdle("m");
  StartWorkers();
  for (int i = 1; i <= 3; ++i) {
    FakeReply reply;
    ASSERT_TRUE(Submit("m", reply).ok());
    RunLoads();
    ASSERT_TRUE(reply.Wait().ok());
    EXPECT_EQ(loads_["m"], i);
    // The worker still has the model for a moment.
    while (Shown("m").state != ModelState::kIdle) {
      clock_.Advance(seconds(1));
      idle_->Sweep();
    }
  }
}

TEST_F(IdleModelsTest, FailedLoadFailsWhoWaitsAndWhoComesSoonAfter) {
  AddIdle("m");
  std::optional<bool> ready;
  manager_->SetListener([&](std::string_view, std::optional<bool> now) { ready = now; });
  load_errors_["m"] = absl::DataLossError("model.pt: is cut off");
  FakeReply a, b, soon, later;
  ASSERT_TRUE(Submit("m", a).ok());
  ASSERT_TRUE(Submit("m", b).ok());
  RunLoads();
  for (const FakeReply* reply : {&a, &b}) {
    EXPECT_EQ(CodeOf(reply->status()), absl::StatusCode::kUnavailable);
    EXPECT_EQ(TextOf(reply->status()),
              "model 'm' was idle and could not be loaded: model.pt: is cut off");
  }
  EXPECT_EQ(loads_["m"], 1);
  EXPECT_EQ(Shown("m").state, ModelState::kFailed);
  EXPECT_EQ(Shown("m").error, "model.pt: is cut off");
  EXPECT_EQ(ready, false);
  EXPECT_EQ(MetricOf(*idle_, "millrace_model_loads_on_demand_total{outcome=\"failed\"}"), 1);

  clock_.Advance(IdleModels::kFailureHolds - milliseconds(1));
  ASSERT_TRUE(Submit("m", soon).ok());
  EXPECT_EQ(TextOf(soon.status()), TextOf(a.status()));
  RunLoads();
  EXPECT_EQ(loads_["m"], 1);

  load_errors_.clear();
  clock_.Advance(milliseconds(1));
  StartWorkers();
  ASSERT_TRUE(Submit("m", later).ok());
  EXPECT_TRUE(later.Wait().ok());
  RunLoads();
  EXPECT_EQ(Shown("m").state, ModelState::kReady);
  manager_->SetListener(nullptr);
  EXPECT_EQ(ready, true);
}

TEST_F(IdleModelsTest, LoadsTheVersionThatItHadAndSaysIfThatIsGone) {
  AddIdle("m");
  AddToDisk("m", 2);
  StartWorkers();
  FakeReply a, b;
  ASSERT_TRUE(Submit("m", a).ok());
  RunLoads();
  ASSERT_TRUE(a.Wait().ok());
  EXPECT_EQ(Serving("m"), 1);
  while (Shown("m").state != ModelState::kIdle) {
    clock_.Advance(seconds(1));
    idle_->Sweep();
  }
  std::filesystem::remove_all(root_.path() / "m" / "1");
  ASSERT_TRUE(Submit("m", b).ok());
  EXPECT_EQ(CodeOf(b.Wait()), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Shown("m").state, ModelState::kFailed);
}

TEST_F(IdleModelsTest, NothingIsLoadedForWhoHasLeft) {
  AddIdle("m");
  FakeReply gone, late, next;
  ASSERT_TRUE(Submit("m", gone).ok());
  ASSERT_TRUE(Submit("m", late, clock_.Now() + seconds(1)).ok());
  const QueueId queue = (*directory_.Find("m", ""))->queue();
  FinishJob(scheduler_.Remove(queue, gone), absl::CancelledError("gone"));
  clock_.Advance(seconds(1));
  for (auto& job : scheduler_.TakeExpired())
    FinishJob(std::move(job), absl::DeadlineExceededError("late"));
  RunLoads();
  EXPECT_EQ(loads_["m"], 0);
  EXPECT_EQ(CodeOf(late.status()), absl::StatusCode::kDeadlineExceeded);
  StartWorkers();
  ASSERT_TRUE(Submit("m", next).ok());
  EXPECT_TRUE(next.Wait().ok());
  EXPECT_EQ(loads_["m"], 1);
}

// Loading takes an instant here, so its time is made up.
TEST_F(IdleModelsTest, ModelIsLoadedForARequestThatWasRefusedForWantOfTime) {
  Use({.unload_after = seconds(1)});
  AddAndLoad("m");
  {
    const auto model = *directory_.Find("m", "");
    directory_.Put(std::make_shared<ServedModel>(
        std::make_unique<testing::FakeModel>(model->info()), scheduler_, metrics_.ForModel("m"),
        LoadCost{.bytes = 7, .time = seconds(60)}));
  }
  clock_.Advance(seconds(1));
  idle_->Sweep();
  FakeReply hasty;
  EXPECT_EQ(Submit("m", hasty, clock_.Now() + seconds(1)).code(),
            absl::StatusCode::kResourceExhausted);
  loads_.clear();
  RunLoads();
  EXPECT_EQ(loads_["m"], 1);
  EXPECT_EQ(Shown("m").state, ModelState::kReady);
}

TEST_F(IdleModelsTest, ModelUnloadedByNameIsNotLoadedForARequest) {
  AddIdle("m");
  FakeReply waits, comes;
  std::unique_ptr<Job> job = MakeJob("m", comes);  // it has found the model
  ASSERT_TRUE(Submit("m", waits).ok());
  ASSERT_TRUE(manager_->Unload("m").ok());
  EXPECT_EQ(CodeOf(waits.status()), absl::StatusCode::kNotFound);
  EXPECT_THAT(TextOf(waits.status()), HasSubstr("'m' was unloaded while the request waited"));
  ASSERT_TRUE(scheduler_.Submit(job).ok());
  RunLoads();
  EXPECT_EQ(CodeOf(comes.Wait()), absl::StatusCode::kNotFound);
  EXPECT_EQ(loads_["m"], 0);
  EXPECT_EQ(Shown("m").state, ModelState::kAvailable);
  EXPECT_FALSE(manager_->Unload("m").ok());
}

TEST_F(IdleModelsTest, ModelUnloadedByNameWhileItIsLoadedDoesNotComeBack) {
  AddIdle("m");
  warm_up_inputs_ = 1;
  std::optional<bool> ready = true;
  hooks_["m"].forward = [&](Request&) {
    EXPECT_TRUE(manager_->Unload("m").ok());
    manager_->SetListener([&](std::string_view, std::optional<bool> now) { ready = now; });
  };
  FakeReply reply;
  ASSERT_TRUE(Submit("m", reply).ok());
  RunLoads();
  EXPECT_EQ(CodeOf(reply.Wait()), absl::StatusCode::kNotFound);
  EXPECT_EQ(Serving("m"), 0);
  EXPECT_EQ(Shown("m").state, ModelState::kAvailable);
  manager_->SetListener(nullptr);
  EXPECT_EQ(ready, std::optional(false));  // there is such a model, which is not ready
}

TEST_F(IdleModelsTest, RequestForAModelUnloadedWhileItIsLoadedIsNotToldOfAFailure) {
  AddIdle("m");
  warm_up_inputs_ = 1;
  FakeReply wakes, comes;
  std::unique_ptr<Job> job = MakeJob("m", comes);  // it has found the model
  hooks_["m"].forward = [&](Request&) {
    EXPECT_TRUE(manager_->Unload("m").ok());
    EXPECT_TRUE(scheduler_.Submit(job).ok());
  };
  ASSERT_TRUE(Submit("m", wakes).ok());
  RunLoads();
  EXPECT_EQ(CodeOf(comes.Wait()), absl::StatusCode::kNotFound);
  EXPECT_THAT(TextOf(comes.status()), HasSubstr("'m' was unloaded while it was loaded"));
  // Nor is who asks for it once it is back.
  hooks_["m"].forward = {};
  ASSERT_TRUE(manager_->Load("m").ok());
  clock_.Advance(seconds(1));
  idle_->Sweep();
  ASSERT_EQ(Shown("m").state, ModelState::kIdle);
  FakeReply later;
  ASSERT_TRUE(Submit("m", later).ok());
  StartWorkers();
  RunLoads();
  EXPECT_TRUE(later.Wait().ok());
}

TEST_F(IdleModelsTest, LoadByNameServesWhoWaits) {
  AddIdle("m");
  FakeReply reply;
  ASSERT_TRUE(Submit("m", reply).ok());
  StartWorkers();
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_TRUE(reply.Wait().ok());
  RunLoads();
  EXPECT_EQ(loads_["m"], 1);
  EXPECT_EQ(Shown("m").state, ModelState::kReady);
}

TEST_F(IdleModelsTest, NewVersionTakesThePlaceOfAnIdleOne) {
  AddIdle("m");
  AddToDisk("m", 2);
  FakeReply waits, comes;
  std::unique_ptr<Job> job = MakeJob("m", comes);
  ASSERT_TRUE(Submit("m", waits).ok());
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(Serving("m"), 2);
  EXPECT_EQ(CodeOf(waits.status()), absl::StatusCode::kUnavailable);
  EXPECT_THAT(TextOf(waits.status()), HasSubstr("was replaced while the request waited"));
  ASSERT_TRUE(scheduler_.Submit(job).ok());
  RunLoads();
  EXPECT_EQ(CodeOf(comes.Wait()), absl::StatusCode::kUnavailable);
  EXPECT_EQ(loads_["m"], 1);
}

TEST_F(IdleModelsTest, MemoryBudgetUnloadsTheLeastRecentlyUsed) {
  Use({.memory_budget = 20});
  for (const char* name : {"a", "b", "c"}) {
    AddAndLoad(name);
    clock_.Advance(seconds(1));
  }
  FakeReply reply;
  ASSERT_TRUE(Submit("a", reply).ok());  // used last
  FinishJob(scheduler_.Remove((*directory_.Find("a", ""))->queue(), reply), absl::OkStatus());
  idle_->Sweep();
  EXPECT_EQ(Shown("a").state, ModelState::kReady);
  EXPECT_EQ(Shown("b").state, ModelState::kIdle);
  EXPECT_EQ(Shown("c").state, ModelState::kReady);
  EXPECT_EQ(MetricOf(*idle_, "millrace_model_unloads_total{reason=\"memory\"}"), 1);

  FakeReply next;
  ASSERT_TRUE(Submit("b", next).ok());
  StartWorkers();
  RunLoads();
  EXPECT_TRUE(next.Wait().ok());
  EXPECT_EQ(Shown("c").state, ModelState::kIdle);
}

TEST_F(IdleModelsTest, RoomIsMadeBeforeAModelIsLoaded) {
  Use({.memory_budget = 14});
  AddAndLoad("a");
  clock_.Advance(seconds(1));
  AddAndLoad("b");
  idle_->MakeRoomFor("a", 7);  // a new version of it
  EXPECT_EQ(Shown("a").state, ModelState::kReady);
  EXPECT_EQ(Shown("b").state, ModelState::kIdle);
  idle_->MakeRoomFor("c", 7);
  EXPECT_EQ(Shown("a").state, ModelState::kReady);
  idle_->MakeRoomFor("c", 8);
  EXPECT_EQ(Shown("a").state, ModelState::kIdle);
}

TEST_F(IdleModelsTest, RequestWaitsForModelsInUseToLeaveRoom) {
  Use({.memory_budget = 7});
  AddAndLoad("a");
  clock_.Advance(seconds(1));
  AddAndLoad("b");
  idle_->Sweep();
  ASSERT_EQ(Shown("a").state, ModelState::kIdle);
  loads_.clear();
  FakeReply of_b, of_a;
  ASSERT_TRUE(Submit("b", of_b).ok());
  ASSERT_TRUE(Submit("a", of_a).ok());
  RunLoads();
  clock_.Advance(seconds(9));
  idle_->Sweep();
  RunLoads();
  EXPECT_EQ(Shown("b").state, ModelState::kReady);
  EXPECT_EQ(loads_["a"], 0);
  EXPECT_FALSE(of_a.status());

  FinishJob(scheduler_.Remove((*directory_.Find("b", ""))->queue(), of_b), absl::OkStatus());
  StartWorkers();
  idle_->Sweep();
  EXPECT_TRUE(of_a.Wait().ok());
  EXPECT_EQ(Shown("b").state, ModelState::kIdle);
}

TEST_F(IdleModelsTest, RequestIsRefusedIfModelsInUseLeaveNoRoom) {
  Use({.memory_budget = 7});
  AddAndLoad("a");
  clock_.Advance(seconds(1));
  AddAndLoad("b");
  idle_->Sweep();
  FakeReply of_b, of_a, again;
  ASSERT_TRUE(Submit("b", of_b).ok());
  ASSERT_TRUE(Submit("a", of_a).ok());
  RunLoads();
  clock_.Advance(IdleModels::kMostWaitForRoom);
  idle_->Sweep();
  ASSERT_EQ(CodeOf(of_a.status()), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(TextOf(of_a.status()),
              HasSubstr("leave no room for it within --model-memory-budget"));
  EXPECT_EQ(RetryHint(*of_a.status()), seconds(1));
  ASSERT_TRUE(Submit("a", again).ok());  // the next one waits as long
  RunLoads();
  idle_->Sweep();
  EXPECT_FALSE(again.status());
}

TEST_F(IdleModelsTest, StopEndsWhoWaitsForALoadThatHasNotBegun) {
  AddIdle("m");
  FakeReply waits, comes;
  ASSERT_TRUE(Submit("m", waits).ok());
  idle_->Stop();
  EXPECT_EQ(CodeOf(waits.status()), absl::StatusCode::kUnavailable);
  EXPECT_EQ(RefusalOf(*waits.status()), Refusal::kDraining);
  ASSERT_TRUE(Submit("m", comes).ok());
  EXPECT_EQ(CodeOf(comes.status()), absl::StatusCode::kUnavailable);
  RunLoads();
  EXPECT_EQ(loads_["m"], 0);
}

TEST_F(IdleModelsTest, StopLetsTheLoadThatRunsServeWhoWaits) {
  AddIdle("m");
  warm_up_inputs_ = 1;
  FakeReply waits, comes;
  bool once = false;
  hooks_["m"].forward = [&](Request&) {
    if (std::exchange(once, true)) return;
    idle_->Stop();
    EXPECT_TRUE(Submit("m", comes).ok());
    EXPECT_FALSE(waits.status());
  };
  ASSERT_TRUE(Submit("m", waits).ok());
  StartWorkers();
  RunLoads();
  EXPECT_TRUE(waits.Wait().ok());
  EXPECT_TRUE(comes.Wait().ok());
}

TEST_F(IdleModelsTest, LoadThatTheMainLoopDropsEndsWhoWaits) {
  AddIdle("m");
  FakeReply waits, comes;
  ASSERT_TRUE(Submit("m", waits).ok());
  loop_.CloseTasks();
  EXPECT_EQ(CodeOf(waits.status()), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(Submit("m", comes).ok());
  EXPECT_EQ(CodeOf(comes.status()), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace millrace::server
