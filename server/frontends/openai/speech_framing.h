#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/audio/audio_format.h"
#include "models/core/payload.h"
#include "nlohmann/json.hpp"

namespace millrace::server {

// The form in which a client gets speech over HTTP.
enum class SpeechFraming : uint8_t {
  kAudio,  // the audio itself
  // OpenAI's server-sent events speech.audio.delta with base64 and speech.audio.done, and our own
  // speech.timestamps before the audio of a sentence.
  kEvents,
  kCaptions,      // Kokoro-FastAPI's JSON objects of audio with the times of words, one a line
  kWholeCaption,  // one such object
};

// Returns the media type, such as "audio/mpeg".
const char* ContentTypeOf(models::AudioFormat format);
// Returns the Content-Type of the answer.
const char* ContentTypeOf(SpeechFraming framing, models::AudioFormat format);

// Puts the audio of one request into its form. One thread at a time.
class SpeechFramer {
 public:
  SpeechFramer() = default;
  // characters: the number in the text.
  SpeechFramer(SpeechFraming framing, models::AudioFormat format, size_t characters)
      : framing_(framing), format_(format), characters_(characters) {}

  // Returns what is ready after a piece of speech, whose times are of the whole audio, and the
  // bytes that it has added to the audio, perhaps none.
  std::string Push(const models::SynthesizeOutput& piece, std::string_view audio);
  // Returns the remaining bytes, after the last bytes of the audio and its length.
  std::string Close(std::string_view audio, double seconds);

 private:
  // Returns the audio in the form that the client gets.
  std::string Framed(std::string_view audio);
  // Returns an object of the audio with the words that have not been sent.
  std::string TakeCaption(std::string_view audio);

  SpeechFraming framing_ = SpeechFraming::kAudio;
  models::AudioFormat format_ = models::AudioFormat::kMp3;
  size_t characters_ = 0;
  std::string audio_;                                               // of the whole caption
  nlohmann::ordered_json words_ = nlohmann::ordered_json::array();  // to be sent with audio
};

}  // namespace millrace::server
