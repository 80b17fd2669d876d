#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/payload.h"

namespace millrace::server {

// The characters of a text and when each is heard.
struct CharacterTimes {
  struct Span {
    double begin = 0;  // seconds
    double end = 0;
  };
  std::vector<std::string> characters;  // code points, in UTF-8
  std::vector<Span> times;              // the times of each of these
};

// Adds the characters of a sentence. Voices tell the times of words: a word's are divided evenly
// among its characters, and those between two words share the time from the one to the other.
// Times are counted from sample `origin` of the audio, to which those of the words refer; `begin`:
// where the sentence begins. A sentence ends with white space, which is added where it has none, so
// that sentences can be joined.
void AddCharacterTimes(std::string_view sentence, const std::vector<models::SpokenSpan>& words,
                       int64_t begin, int64_t origin, int sample_rate, CharacterTimes& times);

}  // namespace millrace::server
