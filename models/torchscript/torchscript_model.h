#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model.h"
#include "models/core/shape_policy.h"
#include "mps_runtime/stream.h"

namespace millrace::torchscript {

struct TorchScriptOptions {
  std::filesystem::path file = {};
  // Requests of a batch become one forward with a new first dimension; otherwise each is a forward
  // of its own. Needs fixed input shapes.
  bool stack = false;
  // With few shapes, batches that are stacked come in powers of two, and as max_batch: others are
  // filled up with copies of their last request. Not on the CPU, where a size costs nothing.
  models::ShapePolicy shapes = models::ShapePolicy::kExact;
  std::vector<int64_t> warmup_sizes = {};  // for each -1 of the inputs; empty: 1
  runtime::DeviceType device = runtime::DeviceType::kCpu;
};

// Reads the module and checks that it can be run with the inputs that info names. INVALID_ARGUMENT
// for a file that is not TorchScript, naming it. Main thread.
absl::StatusOr<std::unique_ptr<models::Model>> LoadTorchScript(const TorchScriptOptions& options,
                                                               models::ModelInfo info);

}  // namespace millrace::torchscript
