#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/v1/synthesis.pb.h"

namespace millrace {

// These functions write the times of a text's words and phonemes in file formats.
struct SpeechTimes {
  std::vector<v1::SpokenSpan> words;
  std::vector<v1::SpokenSpan> phonemes;
};

// Returns a JSON object with the arrays "words" and "phonemes".
std::string TimesAsJson(const SpeechTimes& times);
// Returns WebVTT: a cue for each sentence, with the punctuation of the text and a time before each
// word, by which players highlight the spoken word. text: what was spoken, UTF-8.
std::string TimesAsWebVtt(const SpeechTimes& times, std::string_view text);

}  // namespace millrace
