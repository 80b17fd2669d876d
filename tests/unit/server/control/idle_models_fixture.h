#pragma once

#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <string>

#include "mps_runtime/base/joining_thread.h"
#include "server/control/idle_models.h"
#include "server/control/main_loop.h"
#include "server/scheduling/thread_executor.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_reply.h"
#include "tests/fakes/metrics_page.h"
#include "tests/unit/server/control/repository_fixture.h"

namespace millrace::server {

struct StandingClock {
  testing::FakeClock clock_;
};

// Models that leave the memory, on a clock that stands still. Each has 7 bytes.
class IdleModelsTest : private StandingClock, public RepositoryTest {
 protected:
  IdleModelsTest() : RepositoryTest(StandingClock::clock_) {}
  ~IdleModelsTest() override {
    // Jobs that still wait go first, since their replies are gone.
    scheduler_.Close();
    loop_.Stop();
    main_.reset();
    loop_.CloseTasks();
  }
  using StandingClock::clock_;

  void Use(const IdlePolicy::Options& options) {
    idle_.emplace(options, *manager_, directory_, scheduler_, loop_, clock_);
  }
  void AddAndLoad(const std::string& name) {
    AddToDisk(name);
    ASSERT_TRUE(manager_->Load(name).ok());
  }
  // A model that was loaded and is idle now.
  void AddIdle(const std::string& name) {
    if (!idle_) Use({.unload_after = std::chrono::seconds(1)});
    AddAndLoad(name);
    clock_.Advance(std::chrono::seconds(1));
    idle_->Sweep();
    ASSERT_EQ(Shown(name).state, ModelState::kIdle);
    loads_.clear();
  }
  std::unique_ptr<Job> MakeJob(const std::string& model, Reply& reply,
                               TimePoint deadline = TimePoint::max()) {
    return std::make_unique<Job>(models::Input(), deadline, reply, *directory_.Find(model, ""),
                                 clock_);
  }
  absl::Status Submit(const std::string& model, Reply& reply,
                      TimePoint deadline = TimePoint::max()) {
    std::unique_ptr<Job> job = MakeJob(model, reply, deadline);
    return scheduler_.Submit(job);
  }
  // Lets the main thread run, from now on, and waits until it has ended the loads that were asked
  // for.
  void RunLoads() {
    if (!main_) main_.emplace([this] { loop_.Run(); });
    std::latch done(1);
    loop_.Post([&done] { done.count_down(); });
    done.wait();
  }
  void StartWorkers(int workers = 1) {
    executor_ = std::make_unique<ThreadExecutor>(workers, device_, scheduler_);
    ASSERT_TRUE(executor_->Start({}).ok());
  }

  MainLoop loop_;
  std::optional<IdleModels> idle_;
  std::optional<JoiningThread> main_;
  std::unique_ptr<ThreadExecutor> executor_;
};

}  // namespace millrace::server
