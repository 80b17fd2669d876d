#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/core/payload.h"

namespace millrace::speech {

// The most bytes of text, as CountSpokenBytes counts them, that are spoken at once. Bounds the time
// and memory of a step.
inline constexpr size_t kMaxSpeechUnitBytes = 400;

// Splits UTF-8 text into the units that are spoken step by step: its sentences, without the white
// space between them. A sentence longer than max_bytes, by CountSpokenBytes, is cut at a pause (, ;
// : 、) in its second half, else at a space, else within a word, never within a character. Only
// white space is lost. Units are views into the text. Thread-safe; linear time.
std::vector<std::string_view> SplitSpeechUnits(std::string_view text,
                                               size_t max_bytes = kMaxSpeechUnitBytes);

// Does the same for phonemes. They have neither abbreviations nor capitals, so a stop before white
// space always ends a sentence.
std::vector<std::string_view> SplitPhonemeUnits(std::string_view phonemes,
                                                size_t max_bytes = kMaxSpeechUnitBytes);

// Replaces a unit with its halves. Returns false when it is too short for that.
bool HalveSpeechUnit(std::vector<std::string_view>& units, size_t index);

// Returns the break that ends the text: a paragraph for a blank line, a sentence for a line break
// or a stop (with quotes or brackets behind it), else a clause; kNone if empty. Thread-safe.
models::SpeechBreak BreakBehind(std::string_view text);

// Returns true if the text has a letter or a digit of any script.
bool HasLetterOrDigit(std::string_view text);

}  // namespace millrace::speech
