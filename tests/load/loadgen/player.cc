#include "tests/load/loadgen/player.h"

namespace millrace::loadgen {

std::optional<std::chrono::nanoseconds> Player::OnPiece(SteadyTime now, double audio_seconds) {
  std::optional<std::chrono::nanoseconds> gap;
  if (!started_) {
    started_ = true;
    playback_.first_audio = now - intended_;
    played_until_ = now;
  } else {
    gap = now - last_piece_;
    if (now > played_until_) {
      ++playback_.underruns;
      playback_.stalled += now - played_until_;
      played_until_ = now;
    }
  }
  last_piece_ = now;
  playback_.audio_seconds += audio_seconds;
  played_until_ += std::chrono::nanoseconds(static_cast<int64_t>(audio_seconds * 1e9));
  return gap;
}

}  // namespace millrace::loadgen
