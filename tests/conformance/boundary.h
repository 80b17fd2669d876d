#pragma once

#include <chrono>
#include <string>

namespace millrace::conformance {

enum class Outcome { kOk, kWrong, kError, kCrashed, kHung };

// "ok", "wrong", "error", "crash" or "hang".
std::string ToString(Outcome outcome);

// Runs an operator on so many threads at once in a fresh child process, because the driver of a
// device may crash or hang: the parent tells these apart and goes on. Beyond the operators' names,
// "fault-crash", "fault-hang" and "fault-wrong" do as they say.
Outcome RunInChild(const std::string& op, int threads, std::chrono::milliseconds watchdog);

// In the child: returns the process's exit status.
int BoundaryChildMain(const std::string& op, int threads);

// argv[0] of this process, for starting it again.
void SetProgram(const char* path);
inline constexpr char kBoundaryChildFlag[] = "--boundary-child";

}  // namespace millrace::conformance
