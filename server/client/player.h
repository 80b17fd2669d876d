#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/file.h"
#include "mps_runtime/base/mutex.h"

namespace millrace {

// A program that plays a WAV from its standard input through the machine's loudspeaker. One thread
// at a time, except for Stop.
class Player {
 public:
  // Starts the first player that is found in PATH. NOT_FOUND names those that would do. From then
  // on, writing to a pipe without a reader is an error and no signal.
  static absl::StatusOr<std::unique_ptr<Player>> Start();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  // Stops it if it still plays.
  ~Player();

  const std::string& name() const { return name_; }
  // Returns the descriptor that takes the WAV, which is the caller's to close. Called once.
  FileDescriptor TakeInput() { return std::move(input_); }
  // Waits until it has played all, for which its input must have been closed, or was stopped.
  // Returns an error if it failed.
  absl::Status Wait() MILLRACE_EXCLUDES(mu_);
  // Makes it fall silent. Any thread.
  void Stop() MILLRACE_EXCLUDES(mu_);

 private:
  Player(std::string name, FileDescriptor input, pid_t process);

  const std::string name_;
  FileDescriptor input_;
  const pid_t process_;
  Mutex mu_;
  bool stopped_ MILLRACE_GUARDED_BY(mu_) = false;
  bool has_ended_ MILLRACE_GUARDED_BY(mu_) = false;  // its process id may be another's
};

}  // namespace millrace
