#include "tests/conformance/harness.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "tests/fakes/joining_thread.h"

namespace millrace::conformance {

runtime::RuntimeOptions Options(int workers) {
  runtime::RuntimeOptions options;
  options.workers = workers;
  options.intra_op_threads = 1;
  const char* const name = std::getenv("MILLRACE_DEVICE");
  if (name != nullptr && std::string(name) != "auto") {
    options.device = runtime::ParseDeviceType(name);
    if (!options.device) throw std::invalid_argument(std::string("MILLRACE_DEVICE = ") + name);
  }
  return options;
}

at::Device TensorDevice(const runtime::Runtime& runtime) {
  return at::Device(std::string(runtime::ToString(runtime.device())));
}

double RunWorkers(runtime::Runtime& runtime, int threads,
                  const std::function<void(int, runtime::WorkerContext&)>& body) {
  using Time = std::chrono::steady_clock;
  std::barrier start(threads + 1);
  std::mutex mu;
  std::exception_ptr failure;
  Time::time_point end{};
  Time::time_point begin;
  {
    std::vector<testing::JoiningThread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        std::unique_ptr<runtime::WorkerContext> context;
        std::exception_ptr error;
        try {
          context = runtime.EnterWorker();
        } catch (...) {
          error = std::current_exception();
        }
        start.arrive_and_wait();
        try {
          if (context != nullptr) body(i, *context);
        } catch (...) {
          error = std::current_exception();
        }
        const std::scoped_lock lock(mu);
        end = std::max(end, Time::now());
        if (error != nullptr && failure == nullptr) failure = error;
      });
    }
    start.arrive_and_wait();
    begin = Time::now();
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  return std::chrono::duration<double>(end - begin).count();
}

bool SameNumbers(const at::Tensor& expected, const at::Tensor& actual, runtime::DeviceType device) {
  if (device == runtime::DeviceType::kCpu) return at::equal(expected, actual);
  return expected.sizes() == actual.sizes() && at::allclose(expected, actual, 1e-3, 1e-4);
}

void Report(const std::string& name, const std::string& figure) {
  std::printf("[  FIGURE  ] %s: %s\n", name.c_str(), figure.c_str());
  std::fflush(stdout);
  ::testing::Test::RecordProperty(name, figure);
}

}  // namespace millrace::conformance
