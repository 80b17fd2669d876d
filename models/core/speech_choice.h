#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/core/model_info.h"

namespace millrace::models {

// These functions choose model and voice where a request names none. Languages are BCP 47 tags,
// compared by their first subtag: "en" is that of "en-US". Thread-safe.

// The voice of a model for speech: the one that its configuration names for the language, else its
// own default where that was made for the language, else the first that was, else its own default.
// An empty language is the model's.
std::string DefaultVoice(const ModelInfo& info, std::string_view language);

// The best of several models for a text in the language: of those that have all parts of the voice
// ("a:0.3+b:0.7"; empty: any) the first by what it was made for, what it can read at all, the cost
// of its speech, and its name. Null when there is none for speech; those that lack the voice come
// last.
const ModelInfo* ChooseSpeechModel(std::span<const ModelInfo* const> models,
                                   std::string_view language, std::string_view voice);

}  // namespace millrace::models
