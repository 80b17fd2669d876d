#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/phoneme_text.h"

namespace millrace::models {

// Hiragana and katakana to the phonemes of Kokoro's Japanese voices (misaki's symbols). Small kana,
// the doubling っ, ん by what follows it, long vowels, repetition marks, half-width katakana and
// Japanese punctuation are known; は and へ are spoken as they are written, so particles are
// written わ and え; spaces and marks divide words. ASCII punctuation is kept. InvalidArgument,
// naming the character and its byte, for kanji, Latin letters, digits and all else: their reading
// needs a dictionary (espeak-ng's Japanese voice is no help, it says "Chinese letter" for a kanji).
// Thread-safe; linear time.
absl::StatusOr<PhonemeText> KanaPhonemes(std::string_view text);

}  // namespace millrace::models
