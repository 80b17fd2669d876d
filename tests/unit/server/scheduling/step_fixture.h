#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/scheduling/step.h"
#include "tests/fakes/fake_device.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {

// Runs steps of fake models on the calling thread.
class StepTest : public SchedulingTest {
 protected:
  // The jobs of these replies as one batch, as if they had waited until now.
  std::vector<std::unique_ptr<Job>> MakeBatch(const std::shared_ptr<ServedModel>& model,
                                              const std::vector<testing::FakeReply*>& replies,
                                              TimePoint deadline = TimePoint::max()) {
    std::vector<std::unique_ptr<Job>> batch;
    for (testing::FakeReply* reply : replies) {
      batch.push_back(MakeJob(model, *reply, deadline));
      batch.back()->enqueued = clock_.Now();
    }
    return batch;
  }

  void Run(std::vector<std::unique_ptr<Job>> batch) {
    RunStep(std::move(batch), device_, *context_, scheduler_, /*loops=*/nullptr, clock_);
  }
  void Run(const std::shared_ptr<ServedModel>& model,
           const std::vector<testing::FakeReply*>& replies) {
    Run(MakeBatch(model, replies));
  }

  // The text by which a hook tells requests apart.
  static std::unique_ptr<Job> Named(std::unique_ptr<Job> job, std::string name) {
    models::SynthesizeInput input;
    input.text = std::move(name);
    job->request.mutable_input() = std::move(input);
    return job;
  }
  static const std::string& NameOf(const models::Request& request) {
    return std::get<models::SynthesizeInput>(request.input()).text;
  }

  testing::FakeDevice device_;
  const std::unique_ptr<runtime::WorkerContext> context_ = device_.EnterWorker();
};

}  // namespace millrace::server
