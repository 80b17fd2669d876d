#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "models/core/model.h"

namespace millrace::server {

// The description of a model that is not in memory, which stands for it until it is loaded. It
// accepts every input, since only the model itself can check one, and it runs nothing. Thread-safe.
class UnloadedModel final : public models::Model {
 public:
  explicit UnloadedModel(models::ModelInfo info) : info_(std::move(info)) {}

  const models::ModelInfo& info() const override { return info_; }
  absl::Status Validate(const models::Input& /*input*/) const override { return absl::OkStatus(); }
  // Estimates from the length of the text alone.
  double EstimateWork(const models::Input& input) const override;
  // Must not be called: its queue gives out no jobs.
  std::unique_ptr<models::Batch> Prepare(std::span<models::Request* const> requests) const override;
  std::vector<models::Input> WarmupInputs() const override { return {}; }

 private:
  const models::ModelInfo info_;
};

}  // namespace millrace::server
