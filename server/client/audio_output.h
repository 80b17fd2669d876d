#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/audio/audio_encoder.h"
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

// Writes speech to a file, a pipe or standard output while it comes, so that what has come is there
// whatever happens next. Headers that state the length get it at the end, where the output can be
// written at any place. Not thread-safe.
class AudioOutput {
 public:
  // name: of the file, or "-" for standard output. The file is made with the first audio.
  AudioOutput(std::string name, models::AudioFormat format, uint32_t sample_rate)
      : name_(std::move(name)), format_(format), sample_rate_(sample_rate) {}
  // Writes to a pipe, which it takes and which errors call by this name.
  AudioOutput(std::string name, FileDescriptor pipe, models::AudioFormat format,
              uint32_t sample_rate)
      : AudioOutput(std::move(name), format, sample_rate) {
    pipe_ = std::move(pipe);
  }
  AudioOutput(const AudioOutput&) = delete;
  AudioOutput& operator=(const AudioOutput&) = delete;
  ~AudioOutput();

  // Encodes the samples and writes what is ready. An error names the output, or the rate that the
  // format does not have.
  absl::Status Push(std::span<const float> samples, int sample_rate);
  // Writes the rest, and the length into the header.
  absl::Status Close();

  const std::string& name() const { return name_; }
  // Returns the length so far.
  double seconds() const {
    return input_rate_ == 0 ? 0 : static_cast<double>(samples_) / input_rate_;
  }

 private:
  absl::Status Open(int sample_rate);
  // Leaves standard output open. Returns false on an error, which errno has.
  bool CloseDescriptor();
  absl::Status Write(const std::string& bytes);
  // Writes the true length over that of a stream.
  absl::Status WriteLength();
  absl::Status WriteAt(off_t place, const std::string& bytes) const;
  absl::Status Failed() const;

  const std::string name_;
  FileDescriptor pipe_;
  const models::AudioFormat format_;
  const uint32_t sample_rate_;  // 0: the voice's own
  std::unique_ptr<models::AudioEncoder> encoder_;
  int descriptor_ = -1;
  off_t begin_ = -1;  // where the audio begins; -1: the output takes bytes in their order only
  std::string head_;  // the first bytes that were written
  uint64_t written_ = 0;
  int input_rate_ = 0;
  int output_rate_ = 0;
  uint64_t samples_ = 0;
};

}  // namespace millrace
