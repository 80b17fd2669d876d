#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/core/model_info.h"
#include "server/requests/speech_request.h"

namespace millrace::server {

// The language by which model and voice are chosen for a text that names neither.
inline constexpr std::string_view kUsualLanguage = "en";

// Returns the language of a text if it is not English, its detection is sure, and a voice of one of
// the speech models was made for it; else an empty string. The tags of a text with markup do not
// count. Takes at most half a millisecond. Thread-safe.
std::string OtherSpokenLanguage(std::string_view text, SpeechTextFormat format,
                                std::span<const models::ModelInfo* const> models);

// Returns the likeliest language of a text that a voice of the model was made for, if the text has
// no letter that the model's own language is written in; else an empty string.
std::string LanguageOfOtherScript(std::string_view text, SpeechTextFormat format,
                                  const models::ModelInfo& model);

}  // namespace millrace::server
