#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "mps_runtime/probe/child_process.h"
#include "mps_runtime/stream.h"

namespace millrace::models {

// A model of a repository on so many threads at once: whether the device survives it, and gives
// each the answers of one thread.
struct ModelProbe {
  std::filesystem::path repository;
  std::string name;
  int64_t version = 1;
  int threads = 1;
  int rounds = 3;                             // of the model's own warm-up inputs, on each thread
  std::optional<runtime::DeviceType> device;  // none: the best that is there
};

// In this process: loads the model, answers its inputs on the main thread, then on all threads,
// which start at once behind a barrier. False: at least one answer was not the main thread's.
// Throws what the runtime and the model throw, std::runtime_error when it cannot be loaded or a
// request fails. May crash or hang with the device. No Runtime may live.
bool RunModelHere(const ModelProbe& probe);

// In a fresh child process, so that the caller survives. Every program that calls this starts its
// main with ModelProbeMain.
runtime::ChildResult RunModelInChild(const ModelProbe& probe, const runtime::ChildOptions& options);

// In the main of a program: when it was started by RunModelInChild, runs the probe and returns the
// process's exit status; otherwise nullopt.
std::optional<int> ModelProbeMain(int argc, char** argv);

}  // namespace millrace::models
