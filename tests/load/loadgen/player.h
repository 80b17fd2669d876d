#pragma once

#include <chrono>
#include <optional>

#include "tests/load/loadgen/recorder.h"

namespace millrace::loadgen {

// Hears one audio stream as a player without a buffer would: it starts with the first piece, and a
// piece that comes when all before it has been played is an underrun, after which playing goes on.
// One call's use: not thread-safe.
class Player {
 public:
  explicit Player(SteadyTime intended) : intended_(intended) {}

  // A piece of so much audio came. Returns the time since the piece before it, if there was one.
  std::optional<std::chrono::nanoseconds> OnPiece(SteadyTime now, double audio_seconds);

  const Playback& playback() const { return playback_; }

 private:
  const SteadyTime intended_;
  Playback playback_;
  bool started_ = false;
  SteadyTime last_piece_;
  SteadyTime played_until_;  // when all that has come will have been heard
};

}  // namespace millrace::loadgen
