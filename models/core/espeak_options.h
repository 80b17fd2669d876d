#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include "mps_runtime/base/cpu_info.h"

namespace millrace::models {

// Returns the most processes of a voice on a machine with so many cores: half as many, because the
// sentences of a step wait for their phonemes before a device can begin, but at least four.
inline size_t EspeakProcesses(int cores) { return static_cast<size_t>(std::max(4, cores / 2)); }

// How the program espeak-ng is run.
struct EspeakOptions {
  std::string program = "espeak-ng";  // a name to find in PATH, or a path
  size_t max_processes = EspeakProcesses(runtime::AvailableCores());
  std::chrono::milliseconds timeout{5000};  // for one sentence
};

}  // namespace millrace::models
