#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/v1/synthesis.pb.h"

namespace millrace {

// When the words and phonemes of a text are heard, as files hold it.
struct SpeechTimes {
  std::vector<v1::SpokenSpan> words;
  std::vector<v1::SpokenSpan> phonemes;
};

// A JSON object with the arrays "words" and "phonemes".
std::string TimesAsJson(const SpeechTimes& times);
// WebVTT: a cue a sentence, with the punctuation of the text and a time before each word, by which
// players mark what is being said. `text` is what was spoken, UTF-8.
std::string TimesAsWebVtt(const SpeechTimes& times, std::string_view text);

}  // namespace millrace
