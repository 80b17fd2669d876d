#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/frontends/elevenlabs/character_times.h"
#include "server/frontends/http/speech_framer.h"

namespace millrace::server {

// ElevenLabs' with-timestamps: JSON objects of audio and the times of its characters, in seconds of
// the whole audio. An object a line while the speech is made, or one of it all.
class TimedFramer final : public SpeechFramer {
 public:
  explicit TimedFramer(bool whole) : whole_(whole) {}

  std::string Push(const models::SynthesizeOutput& piece, std::string_view audio) override;
  std::string Close(std::string_view audio, double seconds) override;
  bool whole() const override { return whole_; }

 private:
  // Returns an object of the audio with the times that have not been sent.
  std::string TakeObject(std::string_view audio);

  const bool whole_;
  int64_t samples_ = 0;  // before the next piece
  std::string audio_;    // the audio of the whole
  CharacterTimes times_;
};

}  // namespace millrace::server
