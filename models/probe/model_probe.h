#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/core/payload.h"
#include "mps_runtime/probe/child_process.h"
#include "mps_runtime/stream.h"

namespace millrace::models {

// Runs a model of a repository on many threads at once, to find out whether the device survives it
// and gives each thread the outputs of one thread alone.
struct ModelProbe {
  std::filesystem::path repository;
  std::string name;
  int64_t version = 1;
  int threads = 1;
  int rounds = 3;                             // passes over the inputs on each thread
  std::vector<Input> inputs = {};             // RunModelHere's; empty: the model's warm-up inputs
  std::optional<runtime::DeviceType> device;  // nullopt: the best that exists
};

// Runs the probe in this process: loads the model, runs its inputs on the main thread, then on all
// threads, which start together behind a barrier. Returns false if any output differs from the main
// thread's. Throws what the runtime and the model throw, and std::runtime_error when the model
// cannot be loaded or a request fails. It may crash or hang with the device. No Runtime may exist.
bool RunModelHere(const ModelProbe& probe);

// Runs the probe in a fresh child process, so that the caller survives. Every program that calls
// this begins its main with ModelProbeMain.
runtime::ChildResult RunModelInChild(const ModelProbe& probe, const runtime::ChildOptions& options);

// Call it at the start of main. If RunModelInChild started the program, it runs the probe and
// returns the exit status; otherwise it returns nullopt.
std::optional<int> ModelProbeMain(int argc, char** argv);

}  // namespace millrace::models
