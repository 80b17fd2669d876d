#pragma once

#include <string>
#include <string_view>

#include "models/audio/audio_format.h"
#include "models/core/payload.h"

namespace millrace::server {

// Puts the audio of one request into the form that its protocol gives it. One thread at a time.
class SpeechFramer {
 public:
  virtual ~SpeechFramer() = default;

  // Returns what is ready after a piece of speech, whose times are of the whole audio, and the
  // bytes that it has added to the audio, perhaps none.
  virtual std::string Push(const models::SynthesizeOutput& piece, std::string_view audio) = 0;
  // Returns the remaining bytes, after the last bytes of the audio and its length.
  virtual std::string Close(std::string_view audio, double seconds) = 0;
  // Returns true if all leaves with Close, and is held in memory until then.
  virtual bool whole() const { return false; }
};

// Returns the media type of audio, such as "audio/mpeg".
const char* ContentTypeOf(models::AudioFormat format);

}  // namespace millrace::server
