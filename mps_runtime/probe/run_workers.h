#pragma once

#include <functional>

#include "mps_runtime/runtime.h"

namespace millrace::runtime {

// Runs body(i, context) on `threads` fresh worker threads of the runtime, which all start at once.
// Rethrows the first exception after all of them have ended. When a thread or its context cannot be
// made, no body runs. Returns the seconds from the start to the end of the last thread's work.
double RunWorkers(Runtime& runtime, int threads,
                  const std::function<void(int, WorkerContext&)>& body);

}  // namespace millrace::runtime
