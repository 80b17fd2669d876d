#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/text/english/text_normalizer.h"
#include "models/text/phonemizer.h"

namespace millrace::models {

// English text as espeak-ng is to read it.
struct RespelledText {
  std::string text;  // of words and marks of pauses alone; empty when there is nothing to speak
  // The words of the source, each with what is said for it. What is read as one, such as the three
  // words of "May 5, 1990", is one.
  std::vector<PartToSpeak> words;
};

// What the normalizer makes of a sentence, with what espeak-ng takes for something else respelled:
// letters that look like words, and words that are spelled alike but sound different, such as the
// past tense of "read". Thread-safe; linear time.
RespelledText RespellForEspeak(const TextNormalizer& normalizer, std::string_view sentence);

}  // namespace millrace::models
