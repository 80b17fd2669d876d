#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "models/text/english/text_normalizer.h"

namespace millrace::models {

// As far as pronunciation asks for it.
enum class PartOfSpeech {
  kUnknown,
  kNoun,
  kVerb,
  kAdjective,     // before a noun: "a close friend"
  kPredicate,     // behind a verb: "it is close"
  kPast,          // past tense or participle
  kDemonstrative  // "that" that points at something
};

// Guesses the part of speech of words[at] from the words next to it: "to record" is a verb, "the
// record" a noun. Made for words whose pronunciation hangs on it; for others it may well be
// kUnknown. Thread-safe; looks at most 3 words away.
PartOfSpeech GuessPartOfSpeech(std::span<const SpokenWord> words, size_t at);

}  // namespace millrace::models
