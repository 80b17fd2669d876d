#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace millrace::models {

// How the program espeak-ng is run.
struct EspeakOptions {
  std::string program = "espeak-ng";  // a name to find in PATH, or a path
  size_t max_processes = 4;
  std::chrono::milliseconds timeout{5000};  // for one sentence
};

}  // namespace millrace::models
