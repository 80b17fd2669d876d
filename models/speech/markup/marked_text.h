#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "models/core/model_info.h"
#include "models/core/speech_markup.h"

namespace millrace::speech {

// The longest pause between two pieces of speech, however many elements or tags it is made of, and
// the most pauses of a text, in seconds.
inline constexpr double kMaxMarkupPause = 10;
inline constexpr double kMaxMarkupPauses = 600;
// The most characters of a pronunciation, and of what stands for a written text.
inline constexpr size_t kMaxReadingBytes = 512;

// The model that speaks a text with markup, and how the text begins.
struct MarkupContext {
  const models::SpeechInfo& info;
  std::string_view model;            // its name
  std::string_view language;         // of the request; empty: the model's
  float speed = 1;                   // of the request
  std::string_view voice;            // that speaks where the text names none
  bool has_voice = false;            // the request names it
  models::SpeechManner manner = {};  // with which the text begins
};

// A text without its markup, and what the markup says.
struct MarkedText {
  std::string text;
  models::SpeechMarkup markup;
  models::SpeechManner manner_after;  // with which a text behind it begins
};

// Returns where a byte of the source is, "line 1, column 1" being the first; columns count
// characters. Linear time.
std::string PlaceInSource(std::string_view source, size_t byte);

}  // namespace millrace::speech
