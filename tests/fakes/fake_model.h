#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "models/core/model.h"

namespace millrace::testing {

// The behaviour of a FakeModel. Each hook of a phase runs once for every request of a step; without
// one nothing happens there, but complete finishes the request.
struct ModelHooks {
  using Hook = std::function<void(models::Request&)>;

  std::function<absl::Status(const models::Input&)> validate = {};
  std::function<double(const models::Input&)> estimate_work = {};  // without one it is 1
  Hook prepare_ahead = {};  // runs where a request is admitted
  Hook prepare = {};
  Hook forward = {};
  Hook complete = [](models::Request& request) { request.Finish(absl::OkStatus()); };
  std::function<void()> destroyed = {};
  Duration stalled{};  // the answer of Batch::stalled
};

// A model whose steps do what the test says. Thread-safe as far as the hooks are.
class FakeModel final : public models::Model {
 public:
  explicit FakeModel(models::ModelInfo info, ModelHooks hooks = {}, size_t warm_up_inputs = 0)
      : info_(std::move(info)), hooks_(std::move(hooks)), warm_up_inputs_(warm_up_inputs) {}
  ~FakeModel() override {
    if (hooks_.destroyed) hooks_.destroyed();
  }

  const models::ModelInfo& info() const override { return info_; }

  absl::Status Validate(const models::Input& input) const override {
    return hooks_.validate ? hooks_.validate(input) : absl::OkStatus();
  }

  double EstimateWork(const models::Input& input) const override {
    return hooks_.estimate_work ? hooks_.estimate_work(input) : 1;
  }

  void PrepareAhead(models::Request& request) const override {
    if (hooks_.prepare_ahead) hooks_.prepare_ahead(request);
  }

  std::unique_ptr<models::Batch> Prepare(
      std::span<models::Request* const> requests) const override {
    auto step = std::make_unique<Step>(hooks_);
    for (models::Request* request : requests) {
      if (hooks_.prepare) hooks_.prepare(*request);
      if (!request->outcome()) step->requests.push_back(request);
    }
    if (step->requests.empty()) return nullptr;
    return step;
  }

  std::vector<models::Input> WarmupInputs() const override {
    return std::vector<models::Input>(warm_up_inputs_);
  }
  std::vector<size_t> WarmupBatches() const override { return warm_up_batches; }

  std::vector<size_t> warm_up_batches = {1};  // set before its use

 private:
  struct Step final : models::Batch {
    explicit Step(const ModelHooks& hooks) : hooks(hooks) {}
    void Forward(runtime::WorkerContext&) override {
      if (!hooks.forward) return;
      for (models::Request* request : requests) hooks.forward(*request);
    }
    void Complete() override {
      for (models::Request* request : requests) hooks.complete(*request);
    }

    Duration stalled() const override { return hooks.stalled; }

    const ModelHooks& hooks;
    std::vector<models::Request*> requests;
  };

  const models::ModelInfo info_;
  const ModelHooks hooks_;
  const size_t warm_up_inputs_;
};

}  // namespace millrace::testing
