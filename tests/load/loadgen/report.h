#pragma once

#include <chrono>
#include <string>

#include "tests/load/loadgen/options.h"
#include "tests/load/loadgen/outputs.h"
#include "tests/load/loadgen/recorder.h"

namespace millrace::loadgen {

// The result as one JSON object; bench.py reads it.
std::string ReportJson(const Options& options, const Recorder& recorder, const Outputs& outputs,
                       uint64_t offered, std::chrono::nanoseconds wall);

}  // namespace millrace::loadgen
