#include "models/kernels/parallel_for.h"

#include <utility>

namespace millrace::kernels {
namespace {

thread_local LoopRunner* current_runner = nullptr;

}  // namespace

ScopedLoopRunner::ScopedLoopRunner(LoopRunner* runner)
    : before_(std::exchange(current_runner, runner)) {}

ScopedLoopRunner::~ScopedLoopRunner() { current_runner = before_; }

int ParallelWidth() { return current_runner == nullptr ? 1 : current_runner->Width(); }

void ParallelFor(int64_t parts, LoopBody body) {
  LoopRunner* const runner = current_runner;
  if (runner != nullptr && parts > 1) {
    const ScopedLoopRunner parts_are_serial(nullptr);
    runner->Run(parts, body);
    return;
  }
  for (int64_t part = 0; part < parts; ++part) body(part);
}

}  // namespace millrace::kernels
