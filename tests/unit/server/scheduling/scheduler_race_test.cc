#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "server/scheduling/scheduler.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using testing::FakeReply;

constexpr int kWorkers = 16;

// These tests hang until their time limit when a wake-up is lost.
class SchedulerRaceTest : public SchedulingTest {
 protected:
  std::vector<std::shared_ptr<ServedModel>> MakeModels(int count, models::BatchPolicy policy) {
    std::vector<std::shared_ptr<ServedModel>> models;
    for (int i = 0; i < count; ++i) models.push_back(MakeModel("m" + std::to_string(i), policy));
    return models;
  }
};

// One notification is under way at a time, and each woken worker passes it on. Every worker holds
// its job until all have one, so that a round only ends when all of them were woken.
TEST_F(SchedulerRaceTest, BurstWakesAsManyWorkersAsThereAreJobs) {
  constexpr int kRounds = 100;
  const auto models = MakeModels(4, {.max_batch = 1});
  std::vector<FakeReply> replies(kWorkers);
  std::barrier all_busy(kWorkers + 1);
  std::vector<JoiningThread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&] {
      Scheduler::Popped popped;
      while (scheduler_.PopBatch(popped)) all_busy.arrive_and_wait();
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kWorkers; ++i)
      ASSERT_TRUE(Submit(models[i % models.size()], replies[i]).ok());
    all_busy.arrive_and_wait();
  }
  scheduler_.Close();
}

// The same with the burst from as many threads at once.
TEST_F(SchedulerRaceTest, BurstFromManyThreadsWakesAllWorkers) {
  constexpr int kRounds = 50;
  const auto models = MakeModels(3, {.max_batch = 1});
  std::vector<FakeReply> replies(kWorkers);
  std::barrier all_busy(2 * kWorkers);
  std::vector<JoiningThread> threads;
  for (int w = 0; w < kWorkers; ++w) {
    threads.emplace_back([&] {
      Scheduler::Popped popped;
      for (int round = 0; round < kRounds; ++round) {
        ASSERT_TRUE(scheduler_.PopBatch(popped));
        all_busy.arrive_and_wait();
      }
    });
    threads.emplace_back([&, w] {
      for (int round = 0; round < kRounds; ++round) {
        ASSERT_TRUE(Submit(models[w % models.size()], replies[w]).ok());
        all_busy.arrive_and_wait();
      }
    });
  }
}

// A worker that lingers for one model must not keep the others from work that is ready.
TEST_F(SchedulerRaceTest, LingeringWorkerDoesNotSwallowTheWakeUpOfOthers) {
  constexpr int kRounds = 50;
  const auto patient = MakeModel("patient", {.max_batch = 8, .linger = std::chrono::hours(1)});
  const auto quick = MakeModels(2, {.max_batch = 1});
  FakeReply lingers;
  std::vector<FakeReply> replies(kWorkers);
  std::barrier all_busy(kWorkers + 1);
  std::atomic<int> patient_jobs{0};
  {
    std::vector<JoiningThread> workers;
    for (int w = 0; w < kWorkers; ++w) {
      workers.emplace_back([&] {
        Scheduler::Popped popped;
        while (scheduler_.PopBatch(popped)) {
          if (popped.batch.front()->model == patient) {
            ++patient_jobs;
          } else {
            all_busy.arrive_and_wait();
          }
        }
      });
    }
    ASSERT_TRUE(Submit(patient, lingers).ok());
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kWorkers; ++i)
        ASSERT_TRUE(Submit(quick[i % quick.size()], replies[i]).ok());
      all_busy.arrive_and_wait();
    }
    EXPECT_EQ(patient_jobs.load(), 0);
    clock_.Advance(std::chrono::hours(2));
    while (patient_jobs.load() == 0) std::this_thread::yield();
    scheduler_.Close();
  }
  EXPECT_EQ(patient_jobs.load(), 1);
}

TEST_F(SchedulerRaceTest, CloseFreesEveryWaitingWorkerAndEachJobHasOneOwner) {
  constexpr int kSubmitters = 16;
  for (int round = 0; round < 50; ++round) {
    Scheduler scheduler({.default_queue_size = 1000, .workers = kWorkers}, clock_);
    const auto model = Serve(scheduler, metrics_, "m", {.max_batch = 4});
    std::vector<FakeReply> replies(kSubmitters);
    std::atomic<int> popped_jobs{0};
    std::atomic<int> refused{0};
    size_t returned = 0;
    std::barrier start(kWorkers + kSubmitters + 1);
    {
      std::vector<JoiningThread> threads;
      for (int w = 0; w < kWorkers; ++w) {
        threads.emplace_back([&] {
          start.arrive_and_wait();
          Scheduler::Popped popped;
          while (scheduler.PopBatch(popped))
            popped_jobs.fetch_add(static_cast<int>(popped.batch.size()));
        });
      }
      for (FakeReply& reply : replies) {
        threads.emplace_back([&] {
          auto job = MakeJob(model, reply);
          start.arrive_and_wait();
          if (!scheduler.Submit(job).ok()) ++refused;
        });
      }
      start.arrive_and_wait();
      std::this_thread::yield();
      returned = scheduler.Close().size();
    }
    ASSERT_EQ(popped_jobs + refused + static_cast<int>(returned), kSubmitters);
    ASSERT_EQ(scheduler.depth(model->queue()), 0U);
  }
}

// The caller leaves while workers take jobs: either it gets the job back or a worker has it.
TEST_F(SchedulerRaceTest, RemoveRacesPop) {
  constexpr int kJobs = 64;
  for (int round = 0; round < 20; ++round) {
    Scheduler scheduler({.default_queue_size = kJobs, .workers = kWorkers / 2}, clock_);
    const auto model = Serve(scheduler, metrics_, "m", {.max_batch = 2});
    std::vector<FakeReply> replies(kJobs);
    for (FakeReply& reply : replies) {
      auto job = MakeJob(model, reply);
      ASSERT_TRUE(scheduler.Submit(job).ok());
    }
    std::atomic<int> left{kJobs};
    const auto finish = [&](std::unique_ptr<Job> job) {
      FinishJob(std::move(job), absl::OkStatus());
      left.fetch_sub(1);
    };
    std::barrier start(kWorkers);
    std::vector<JoiningThread> threads;
    for (int w = 0; w < kWorkers / 2; ++w) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        Scheduler::Popped popped;
        while (scheduler.PopBatch(popped)) {
          for (auto& job : popped.batch) finish(std::move(job));
        }
      });
      threads.emplace_back([&, w] {
        start.arrive_and_wait();
        for (int i = w; i < kJobs; i += kWorkers / 2) {
          if (auto job = scheduler.Remove(model->queue(), replies[i])) finish(std::move(job));
        }
      });
    }
    while (left.load() > 0) std::this_thread::yield();
    scheduler.Close();
    threads.clear();
    for (const FakeReply& reply : replies) ASSERT_EQ(reply.finishes(), 1);
  }
}

TEST_F(SchedulerRaceTest, ModelsComeAndGoWhileOthersWork) {
  const auto steady = MakeModel("steady", {.max_batch = 4});
  std::atomic<int> served{0};
  std::barrier start(4 + 8 + 1);
  std::vector<JoiningThread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      start.arrive_and_wait();
      Scheduler::Popped popped;
      while (scheduler_.PopBatch(popped)) {
        for (auto& job : popped.batch) {
          ++served;
          FinishJob(std::move(job), absl::OkStatus());
        }
      }
    });
  }
  std::vector<JoiningThread> loaders;
  std::vector<std::unique_ptr<FakeReply>> replies;
  for (int l = 0; l < 8; ++l) replies.push_back(std::make_unique<FakeReply>());
  for (int l = 0; l < 8; ++l) {
    loaders.emplace_back([&, l] {
      start.arrive_and_wait();
      for (int i = 0; i < 100; ++i) {
        const auto model = Serve(scheduler_, metrics_, "m", {.max_batch = 2});
        ASSERT_TRUE(Submit(model, *replies[l]).ok());
        scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = std::chrono::milliseconds(1)});
      }
    });
  }
  start.arrive_and_wait();
  FakeReply reply;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Submit(steady, reply).ok());
  loaders.clear();
  while (served.load() < 900) std::this_thread::yield();
  scheduler_.Close();
  workers.clear();
  EXPECT_EQ(served.load(), 900);
}

}  // namespace
}  // namespace millrace::server
