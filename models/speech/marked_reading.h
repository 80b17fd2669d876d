#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "models/core/speech_markup.h"
#include "models/speech/speech_reader.h"
#include "models/text/phoneme_text.h"

namespace millrace::speech {

// These functions read a text in which stretches have a pronunciation of their own or stand for
// something else. unit: a part of the text, which begins at its byte `begin`. Thread-safe.

// Returns the pronunciation of a reading in the voice's symbols.
std::string PhonemesOf(const models::SpeechReading& reading, const SpeechReader& reader);

// Reads a unit: a reading that has phonemes is spoken as they say, where it begins. Arguments and
// errors are otherwise as SpeechReader::ToPhonemes has them.
absl::StatusOr<models::PhonemeText> ReadMarked(std::string_view unit, size_t begin,
                                               std::span<const models::SpeechReading> readings,
                                               std::string_view language, bool with_words,
                                               const SpeechReader& reader);

// Returns the error of a front end with the place in the source of the whole text; `begin` is the
// byte of the input's text where what was read begins. It is a byte, or a character of marked text.
absl::Status AtSource(const absl::Status& error, size_t begin,
                      const models::SynthesizeInput& input);

// Returns the number of characters of the source before a byte of the input's text, given that
// there are `characters` before the byte `from`, which is in the same unit or an earlier one.
size_t CharactersBefore(size_t byte, const models::SynthesizeInput& input, size_t from = 0,
                        size_t characters = 0);

// A word as the source has it.
struct WrittenSpan {
  std::string text;
  size_t begin = 0;  // byte of the whole text; of a reading's first unit in all of its units
  size_t phonemes_begin = 0;
  size_t phonemes_end = 0;
};

// Returns the words of a unit, in order. Words that a reading covers are one, as it is written.
std::vector<WrittenSpan> WrittenSpans(std::string_view unit, size_t begin,
                                      std::span<const models::PhonemeWord> words,
                                      std::span<const models::SpeechReading> readings);

}  // namespace millrace::speech
