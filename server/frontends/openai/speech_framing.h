#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/audio/audio_format.h"
#include "models/core/payload.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/speech_framer.h"

namespace millrace::server {

// The form in which a client gets speech over HTTP.
enum class SpeechFraming : uint8_t {
  kAudio,  // the audio itself, while it is made
  kFile,   // the audio itself, once all of it is made, with its length in the header
  // OpenAI's server-sent events speech.audio.delta with base64 and speech.audio.done, and our own
  // speech.timestamps before the audio of a sentence.
  kEvents,
  kCaptions,      // Kokoro-FastAPI's JSON objects of audio with the times of words, one a line
  kWholeCaption,  // one such object
};

// Returns true for the forms that are sent once all audio is made.
constexpr bool IsWhole(SpeechFraming framing) {
  return framing == SpeechFraming::kFile || framing == SpeechFraming::kWholeCaption;
}

// Returns the Content-Type of the answer.
const char* ContentTypeOf(SpeechFraming framing, models::AudioFormat format);

// The forms of OpenAI and of Kokoro-FastAPI.
class OpenAiFramer final : public SpeechFramer {
 public:
  // characters: the number in the text.
  OpenAiFramer(SpeechFraming framing, models::AudioFormat format, size_t characters)
      : framing_(framing), format_(format), characters_(characters) {}

  std::string Push(const models::SynthesizeOutput& piece, std::string_view audio) override;
  std::string Close(std::string_view audio, double seconds) override;
  bool whole() const override { return IsWhole(framing_); }

 private:
  // Returns the audio in the form that the client gets.
  std::string Framed(std::string_view audio);
  // Returns an object of the audio with the words that have not been sent.
  std::string TakeCaption(std::string_view audio);

  const SpeechFraming framing_;
  const models::AudioFormat format_;
  const size_t characters_;
  std::string audio_;  // the audio of the whole caption
  nlohmann::ordered_json words_ = nlohmann::ordered_json::array();  // to be sent with audio
};

}  // namespace millrace::server
