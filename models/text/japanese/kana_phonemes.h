#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/text/phoneme_text.h"

namespace millrace::models {

// Turns hiragana and katakana into the phonemes of Kokoro's Japanese voices (misaki's symbols). It
// knows small kana, the doubling っ, ん by what follows it, long vowels, repetition marks,
// half-width katakana and Japanese punctuation; は and へ are particles where the kana around them
// say so; spaces and marks separate words. ASCII punctuation is kept.
// Returns InvalidArgument, naming the character and its byte, for kanji, Latin letters, digits and
// everything else: reading them needs a dictionary (espeak-ng's Japanese voice says "Chinese
// letter" for a kanji). Thread-safe; linear time.
absl::StatusOr<PhonemeText> KanaPhonemes(std::string_view text);

// Returns the error that KanaPhonemes has for the text, at a fraction of its cost.
absl::Status CheckKana(std::string_view text);

}  // namespace millrace::models
