#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/metrics/metrics.h"
#include "server/scheduling/job.h"
#include "server/scheduling/scheduler.h"
#include "server/scheduling/served_model.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_model.h"
#include "tests/fakes/fake_reply.h"

namespace millrace::server {

// A model in service without a repository. `metrics` and `scheduler` must outlive it.
inline std::shared_ptr<ServedModel> Serve(Scheduler& scheduler, Metrics& metrics,
                                          const std::string& name, models::BatchPolicy policy = {},
                                          testing::ModelHooks hooks = {},
                                          size_t warm_up_inputs = 0) {
  models::ModelInfo info;
  info.name = name;
  info.batching = policy;
  return std::make_shared<ServedModel>(
      std::make_unique<testing::FakeModel>(std::move(info), std::move(hooks), warm_up_inputs),
      scheduler, metrics.ForModel(name));
}

// A scheduler on a clock that stands still, and what jobs are made of. A job's reply tells which
// job it is.
class SchedulingTest : public ::testing::Test {
 protected:
  // Jobs that still wait share their model, which must go before the scheduler.
  ~SchedulingTest() override { scheduler_.Close(); }

  std::shared_ptr<ServedModel> MakeModel(const std::string& name, models::BatchPolicy policy = {},
                                         testing::ModelHooks hooks = {}) {
    return Serve(scheduler_, metrics_, name, policy, std::move(hooks));
  }

  std::unique_ptr<Job> MakeJob(const std::shared_ptr<ServedModel>& model, Reply& reply,
                               TimePoint deadline = TimePoint::max()) {
    return std::make_unique<Job>(models::Input(), deadline, reply, model, clock_);
  }

  absl::Status Submit(const std::shared_ptr<ServedModel>& model, Reply& reply,
                      TimePoint deadline = TimePoint::max()) {
    std::unique_ptr<Job> job = MakeJob(model, reply, deadline);
    return scheduler_.Submit(job);
  }

  // The replies of the jobs, in their order.
  static std::vector<const Reply*> Replies(const std::vector<std::unique_ptr<Job>>& jobs) {
    std::vector<const Reply*> replies;
    replies.reserve(jobs.size());
    for (const auto& job : jobs) replies.push_back(&job->reply);
    return replies;
  }

  // The jobs of the next batch; only call it when one is ready.
  std::vector<const Reply*> Pop() {
    EXPECT_TRUE(scheduler_.PopBatch(popped_));
    return Replies(popped_.batch);
  }

  testing::FakeClock clock_;
  Metrics metrics_{BuildInfo{}};
  Scheduler scheduler_{{.default_queue_size = 100, .workers = 1}, clock_};
  Scheduler::Popped popped_;
};

inline std::string_view MessageOf(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace millrace::server
