#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mps_runtime/probe/child_process.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

// Returns the names of all operators that can be probed.
std::vector<std::string> OperatorNames();

// Runs an operator on many threads at once, many times on each, to find out whether a device
// survives it and gives the results of one thread.
struct OperatorProbe {
  std::string op;  // the name of an operator of Operators()
  int threads = 1;
  int iterations = 30;               // for each thread
  std::optional<DeviceType> device;  // nullopt: the best that is available
  // Each operator begins while a QueueHold is at work.
  bool holds_queue = false;
};

// Runs the probe in this process; the threads start together behind a barrier. Returns false when
// at least one result differs from that of the main thread alone. Throws what the runtime throws,
// and std::invalid_argument for an unknown operator. It may crash or hang with the device. No
// Runtime may exist.
bool RunOperatorHere(const OperatorProbe& probe);

// Runs the probe in a fresh child process, so that the caller survives. Every program that calls
// this begins its main with OperatorProbeMain.
ChildResult RunOperatorInChild(const OperatorProbe& probe, const ChildOptions& options);

// Call it at the start of main. When RunOperatorInChild started the program, it runs the probe and
// returns the exit status of the process; otherwise it returns nullopt.
std::optional<int> OperatorProbeMain(int argc, char** argv);

}  // namespace millrace::runtime
