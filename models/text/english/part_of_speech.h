#pragma once

#include <cstddef>
#include <span>

#include "models/text/english/spoken_word.h"

namespace millrace::models {

// Parts of speech, as far as pronunciation needs them.
enum class PartOfSpeech {
  kUnknown,
  kNoun,
  kVerb,
  kAdjective,     // before a noun: "a close friend"
  kPredicate,     // after a verb: "it is close"
  kPast,          // past tense or participle
  kDemonstrative  // "that" that points at something
};

// Guesses the part of speech of words[at] from the neighbouring words: "to record" is a verb, "the
// record" a noun. For words whose pronunciation depends on it; for others the result may be
// kUnknown. Thread-safe; looks at most 3 words away.
PartOfSpeech GuessPartOfSpeech(std::span<const SpokenWord> words, size_t at);

}  // namespace millrace::models
