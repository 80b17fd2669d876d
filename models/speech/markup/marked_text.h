#pragma once

#include <cstddef>
#include <functional>
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

// A place in a text, for messages. The first is line 1, column 1; columns count characters.
struct SourcePlace {
  size_t line = 1;
  size_t column = 1;

  // Returns "line 1, column 1".
  std::string ToString() const;
};

// Returns the place behind a text that begins at a place. Linear time.
SourcePlace PlaceBehind(std::string_view text, SourcePlace begin = {});

// The model that speaks a text with markup, and how the text begins.
struct MarkupContext {
  const models::SpeechInfo& info;
  std::string_view model;            // its name
  std::string_view language;         // the request's; empty: the model's
  float speed = 1;                   // the request's
  std::string_view voice;            // speaks where the text names none
  bool has_voice = false;            // the request names it
  models::SpeechManner manner = {};  // with which the text begins
  SourcePlace begin = {};            // where the text begins in that of its client
  // Returns the voice that an alias stands for, in a language; any other name as it is. Empty:
  // there are no aliases.
  std::function<std::string(const std::string& name, std::string_view language)> voice_named = {};
};

// A text without its markup, and what the markup says.
struct MarkedText {
  std::string text;
  models::SpeechMarkup markup;
  models::SpeechManner manner_after;  // with which a text behind it begins
  // The least break between it and a text behind it.
  models::SpeechBreak break_after = models::SpeechBreak::kNone;
};

}  // namespace millrace::speech
