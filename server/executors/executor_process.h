#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "mps_runtime/base/file.h"

namespace millrace::server {

// How a process ended.
struct ProcessEnd {
  int signal = 0;  // 0: it exited
  int exit_status = 0;
  bool out_of_memory = false;  // the system ended a process for want of memory meanwhile
};

// A running executor. The destructor ends it. Thread-safe.
class ExecutorProcess {
 public:
  virtual ~ExecutorProcess() = default;

  virtual int64_t pid() const = 0;
  // Returns the bytes of memory that are its own; 0 if they are not known.
  virtual uint64_t MemoryBytes() const { return 0; }
  // Ends it at once.
  virtual void Kill() = 0;
  // Waits for its end. Called once, after its connection has ended or after Kill; kills it if it
  // does not end by itself soon.
  virtual ProcessEnd Await() = 0;
};

// Starts executors: a seam for tests.
class ExecutorLauncher {
 public:
  virtual ~ExecutorLauncher() = default;
  // The executor gets its end of the control connection.
  virtual absl::StatusOr<std::unique_ptr<ExecutorProcess>> Launch(FileDescriptor control) = 0;
};

// Starts a program, which gets the control connection as its standard input. Its standard output is
// a socket whose end tells that the process has ended: no process that it starts may have it.
class ProgramLauncher final : public ExecutorLauncher {
 public:
  ProgramLauncher(std::string program, std::string argument)
      : program_(std::move(program)), argument_(std::move(argument)) {}

  absl::StatusOr<std::unique_ptr<ExecutorProcess>> Launch(FileDescriptor control) override;

 private:
  const std::string program_;
  const std::string argument_;
};

// Why an executor ended, in the words of its metric.
enum class DeathCause : uint8_t {
  kCrash,        // a signal of its own
  kKilled,       // SIGKILL by somebody else
  kOutOfMemory,  // SIGKILL by the system
  kExit,
  kHang,      // its step took too long and it was killed
  kSilent,    // it did not say that it lives and was killed
  kProtocol,  // it sent what is no message and was killed
};
inline constexpr int kDeathCauses = 7;

// "crash", "killed", "out_of_memory", "exit", "hang", "silent" or "protocol".
std::string_view ToString(DeathCause cause);

// The end of an executor.
struct ExecutorDeath {
  DeathCause cause = DeathCause::kExit;
  std::string how;  // such as "signal SIGSEGV"
  std::string id;   // names it in the log and in the errors of requests

  // Returns true if a request that was in a step is likely to have caused it. A process falls
  // silent when it is stopped or when its memory is swapped out: a request keeps one of its threads
  // busy.
  bool Blames() const {
    return cause != DeathCause::kKilled && cause != DeathCause::kOutOfMemory &&
           cause != DeathCause::kSilent;
  }
};

// Returns what ended a process that nobody here has killed.
ExecutorDeath Classify(const ProcessEnd& end);

}  // namespace millrace::server
