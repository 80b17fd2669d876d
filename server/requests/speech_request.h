#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/audio/audio_encoder.h"
#include "models/core/speech_markup.h"
#include "models/speech/markup/marked_text.h"
#include "server/requests/request_run.h"
#include "server/requests/services.h"

namespace millrace::server {

// The longest text of a request whose audio is sent sentence by sentence.
inline constexpr size_t kMaxStreamCharacters = 200'000;

// The longest text of a request whose audio leaves as a whole.
inline constexpr size_t kMaxWholeCharacters = 5'000;
// Such audio is held in memory until it is sent: some 25 minutes of 22.05 kHz speech as 16 bit, and
// far above what 5,000 characters take at a common speed.
inline constexpr size_t kMaxWholeAudioBytes = 64 << 20;

// The format of the text of a request. It is never guessed.
enum class SpeechTextFormat : uint8_t {
  kPlain,
  kTags,  // plain text with tags such as [pause:1.5s]
  kSsml,
  kSsmlFragment,  // SSML whose <speak> may be left out
};

// Returns the format with a name that the protocols share: text, tags or ssml. nullopt if none has
// it.
std::optional<SpeechTextFormat> SpeechTextFormatNamed(std::string_view name);
// The same, of the value of a field, which InvalidArgument names.
absl::StatusOr<SpeechTextFormat> ParseSpeechTextFormat(std::string_view field,
                                                       std::string_view value);

// A request for speech, whatever its protocol. Strings are valid UTF-8.
struct SpeechRequest {
  // SpeechNames says what these stand for.
  std::string model;  // empty: any speech model
  std::string model_version;
  std::string voice;  // empty: the model's for the language
  std::string text;
  SpeechTextFormat text_format = SpeechTextFormat::kPlain;
  // How and where a text with markup begins, if it goes on from that of another request.
  models::SpeechManner manner = {};
  speech::SourcePlace begin = {};
  std::string phonemes;  // exactly one of the two is given
  // Language of the text; empty: the text's where neither model nor voice is named, or where the
  // model's own has none of its letters; else the model's.
  std::string language;
  std::optional<float> speed;
  std::optional<float> noise_scale;
  std::optional<float> noise_w;
  std::optional<float> sentence_pause_seconds;
  std::optional<float> paragraph_pause_seconds;
  uint64_t seed = 0;
  models::AudioFormat format = models::AudioFormat::kWav;
  uint32_t sample_rate = 0;  // hertz; 0: the voice's own
  bool normalize_loudness = false;
  float volume = 1;  // factor of the samples
  bool word_times = false;
  bool phoneme_times = false;
};

// The work of a speech request, and how its audio is encoded.
struct SpeechWork {
  Work work;
  std::string voice;
  models::AudioEncoderOptions encoding;
  models::SpeechManner manner_after = {};                        // with which a text with tags ends
  models::SpeechBreak break_after = models::SpeechBreak::kNone;  // the least behind the text
};

// Finds the model and makes all checks that do not need it. InvalidArgument, NotFound or
// FailedPrecondition name the field as above, its value and what is allowed.
absl::StatusOr<SpeechWork> MakeSpeechWork(SpeechRequest request, models::AudioContainer container,
                                          size_t max_characters, const Services& services);

}  // namespace millrace::server
