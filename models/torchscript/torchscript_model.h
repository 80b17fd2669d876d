#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model.h"
#include "models/core/shape_policy.h"
#include "mps_runtime/stream.h"

namespace millrace::torchscript {

struct TorchScriptOptions {
  std::filesystem::path file = {};
  // If true, the requests of a batch become one forward with a new first dimension, instead of one
  // forward each. Needs fixed input shapes.
  bool stack = false;
  // With kFew, stacked batches have a power of two or max_batch rows; others are padded with copies
  // of their last request. Not on the CPU, where a size costs nothing.
  models::ShapePolicy shapes = models::ShapePolicy::kExact;
  std::vector<int64_t> warmup_sizes = {};  // one for each -1 of the inputs; empty: 1
  runtime::DeviceType device = runtime::DeviceType::kCpu;
};

// Reads the module and checks that it runs with the inputs that info names. INVALID_ARGUMENT names
// a file that is not TorchScript. Main thread.
absl::StatusOr<std::unique_ptr<models::Model>> LoadTorchScript(const TorchScriptOptions& options,
                                                               models::ModelInfo info);

}  // namespace millrace::torchscript
