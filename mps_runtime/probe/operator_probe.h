#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mps_runtime/probe/child_process.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

// Of all operators that can be probed.
std::vector<std::string> OperatorNames();

// An operator on so many threads at once, each so many times: whether a device survives it, and
// with the numbers of one thread.
struct OperatorProbe {
  std::string op;  // a name of Operators()
  int threads = 1;
  int iterations = 30;               // on each thread
  std::optional<DeviceType> device;  // none: the best that is there
};

// In this process: the threads start at once behind a barrier. False: at least one result was not
// that of the main thread alone. Throws what the runtime throws, std::invalid_argument for an
// operator that is not there. May crash or hang with the device. No Runtime may live.
bool RunOperatorHere(const OperatorProbe& probe);

// In a fresh child process, so that the caller survives. Every program that calls this starts its
// main with OperatorProbeMain.
ChildResult RunOperatorInChild(const OperatorProbe& probe, const ChildOptions& options);

// In the main of a program: when it was started by RunOperatorInChild, runs the probe and returns
// the process's exit status; otherwise nullopt.
std::optional<int> OperatorProbeMain(int argc, char** argv);

}  // namespace millrace::runtime
