#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>

#include "mps_runtime/runtime.h"

namespace millrace::conformance {

// The options of every conformance run: the device that MILLRACE_DEVICE names, one thread inside an
// operator.
runtime::RuntimeOptions Options(int workers);
at::Device TensorDevice(const runtime::Runtime& runtime);

// Runs body(i, context) on `threads` threads of the runtime, which all start at once. Rethrows the
// first exception. Returns the seconds from the start to the last thread's end of work.
double RunWorkers(runtime::Runtime& runtime, int threads,
                  const std::function<void(int, runtime::WorkerContext&)>& body);

// Same numbers: exactly on the CPU, within rounding where the order of additions is the device's
// choice.
bool SameNumbers(const at::Tensor& expected, const at::Tensor& actual, runtime::DeviceType device);

// Prints the figure of a test; it also appears in gtest's XML.
void Report(const std::string& name, const std::string& figure);

}  // namespace millrace::conformance
