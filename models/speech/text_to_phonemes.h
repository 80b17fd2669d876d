#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/phoneme_text.h"

namespace millrace::speech {

// What turns a sentence of one language into what Kokoro reads: IPA with letters of its own for
// diphthongs and affricates (A as in "day", ʤ), and the marks of pauses. Thread-safe.
class TextToPhonemes {
 public:
  virtual ~TextToPhonemes() = default;

  // Of UTF-8; its words at least if they are asked for. InvalidArgument for what cannot be read,
  // naming it; Unavailable when a program that it needs fails.
  virtual absl::StatusOr<models::PhonemeText> Convert(std::string_view sentence,
                                                      bool with_words) const = 0;
};

struct TextToPhonemesOptions {
  std::string language;                      // BCP 47, one that MakeTextToPhonemes knows
  std::filesystem::path lexicon_file;        // of that language, if it is English
  std::filesystem::path user_lexicon_file;   // the operator's English words; empty: none
  std::vector<std::string> symbols;          // that a pronunciation in a text may have
  std::string espeak_program = "espeak-ng";  // a name to find in PATH, or a path
  size_t max_espeak_processes = 4;
  std::chrono::milliseconds espeak_timeout{5000};  // of one sentence
};

// The front end of the language: for en-US and en-GB the lexicon, with espeak-ng for words that it
// does not hold; for ja kana alone; for those of kEspeakLanguages espeak-ng. InvalidArgument naming
// the language when there is none, or the lexicon when it is of another; FailedPrecondition when a
// program that it needs, or its voice, is missing; else what is wrong with a file.
absl::StatusOr<std::unique_ptr<TextToPhonemes>> MakeTextToPhonemes(
    const TextToPhonemesOptions& options);

// The language of the lexicon: "en-US" or "en-GB"; else what is wrong with the file.
absl::StatusOr<std::string> LanguageOfLexicon(const std::filesystem::path& lexicon_file);

}  // namespace millrace::speech
