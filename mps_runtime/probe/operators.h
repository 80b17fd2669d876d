#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string_view>
#include <vector>

#include "mps_runtime/worker_context.h"

namespace millrace::runtime {

// An operator that speech and translation models are made of, with inputs that depend on the seed
// alone.
struct Operator {
  std::string_view name;
  std::vector<at::Tensor> (*inputs)(at::Device device, int seed);
  at::Tensor (*run)(const std::vector<at::Tensor>& inputs);
};

std::span<const Operator> Operators();
// Returns the operator of that name. Throws std::invalid_argument, which lists the known names.
const Operator& FindOperator(std::string_view name);

// Makes the inputs, runs the operator, waits for the device and returns the result on the host. The
// caller holds a ForwardScope.
at::Tensor RunToHost(const Operator& op, at::Device device, int seed, WorkerContext& context);

}  // namespace millrace::runtime
