#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/speech/markup/marked_text.h"

namespace millrace::speech {

// These functions read the values of SSML's attributes and of tags. Errors are InvalidArgument;
// they show the value and say what is allowed, but not where it is. Thread-safe.

// "1.5s", "500ms": seconds, 0..kMaxMarkupPause.
absl::StatusOr<double> ParsePause(std::string_view value);
// The strength of a break, such as "weak": seconds.
absl::StatusOr<double> ParseStrength(std::string_view value);

// These change a manner.

// Takes "slow" and such, which are of the request's speed; "80%" and "1.2", which multiply the
// manner's; and "+10%", "-10%". The speech must stay within the speeds of the model.
absl::Status SetRate(std::string_view value, const MarkupContext& context,
                     models::SpeechManner& manner);
// Takes "loud" and such, which are of the voice's own level, and "+3dB", "-6dB", which add to the
// manner's.
absl::Status SetVolume(std::string_view value, models::SpeechManner& manner);
// Takes a voice of the model, or a mix if the model mixes voices.
absl::Status SetVoice(std::string_view value, const MarkupContext& context,
                      models::SpeechManner& manner);
// Takes a BCP 47 tag of a language that the model reads. Sets the voice to the language's unless
// the manner's was made for it, or none was. keep_voice: the voice stays.
absl::Status SetLanguage(std::string_view value, const MarkupContext& context, bool keep_voice,
                         models::SpeechManner& manner);

}  // namespace millrace::speech
