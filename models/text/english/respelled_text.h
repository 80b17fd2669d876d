#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/text/english/text_normalizer.h"
#include "models/text/phonemizer.h"

namespace millrace::models {

// English text as espeak-ng should read it.
struct RespelledText {
  std::string text;  // only words and marks of pauses; empty when there is nothing to speak
  // The words of the source, each with what is spoken for it. Words that are read as one, such as
  // the three of "May 5, 1990", are one.
  std::vector<PartToSpeak> words;
};

// Normalises a sentence and respells what espeak-ng misreads: letters that look like words, and
// words that are spelled alike but sound different, such as the past tense of "read". Thread-safe;
// linear time.
RespelledText RespellForEspeak(const TextNormalizer& normalizer, std::string_view sentence);

}  // namespace millrace::models
