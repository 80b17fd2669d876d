#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string_view>

#include "mps_runtime/worker_context.h"

namespace millrace::conformance {

// An operator that speech and translation models are made of, with inputs that depend on the seed
// alone.
struct Operator {
  std::string_view name;
  at::Tensor (*run)(at::Device device, int seed);
};

std::span<const Operator> Operators();

// Runs it, waits for the device and returns the result on the host. The caller holds a
// ForwardScope.
at::Tensor RunToHost(const Operator& op, at::Device device, int seed,
                     runtime::WorkerContext& context);

// Numbers in -1..1 that look irregular and are the same on every machine; no generator, whose state
// all threads would share.
at::Tensor Numbers(at::IntArrayRef shape, at::Device device, int seed);

}  // namespace millrace::conformance
