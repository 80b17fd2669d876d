#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/espeak_options.h"
#include "models/text/phoneme_text.h"

namespace millrace::speech {

// Turns a sentence of one language into Kokoro's phonemes: IPA with letters of its own for
// diphthongs and affricates (A as in "day", ʤ), and the marks of pauses. Thread-safe.
class TextToPhonemes {
 public:
  virtual ~TextToPhonemes() = default;

  // Converts UTF-8. The result has words if they are asked for. InvalidArgument names what cannot
  // be read; Unavailable when a program that it needs fails.
  virtual absl::StatusOr<models::PhonemeText> Convert(std::string_view sentence,
                                                      bool with_words) const = 0;

  // Returns an error if it is known at little cost that a text of many sentences has something that
  // Convert cannot read.
  virtual absl::Status Check(std::string_view /*text*/) const { return absl::OkStatus(); }
};

struct TextToPhonemesOptions {
  std::string language;                       // BCP 47, one that MakeTextToPhonemes knows
  std::filesystem::path lexicon_file;         // has English words; other languages do not use it
  std::filesystem::path user_lexicon_file;    // the operator's English words; empty: none
  std::filesystem::path japanese_words_file;  // words that are spoken as one; empty: none
  std::filesystem::path chinese_lexicon_file;
  std::vector<std::string> symbols;  // the phonemes that a pronunciation in a text may use
  models::EspeakOptions espeak = {};
};

// Makes the front end of the language: for en-US and en-GB the lexicon, with espeak-ng for words
// that it lacks; for ja MeCab, and without its dictionary kana only; for zh a lexicon; for the
// languages of kEspeakLanguages espeak-ng. InvalidArgument names the language when there is no
// front end, or the lexicon when it is of another language. FailedPrecondition when a program or
// its voice is missing. Other errors say what is wrong with a file.
absl::StatusOr<std::unique_ptr<TextToPhonemes>> MakeTextToPhonemes(
    const TextToPhonemesOptions& options);

// Makes a front end that refuses every text with FailedPrecondition, which names the language and
// gives the reason why the front end of the language could not be made.
std::unique_ptr<TextToPhonemes> RefuseTexts(std::string_view language, const absl::Status& reason);

// Returns the language of the lexicon, "en-US" or "en-GB", or an error that says what is wrong with
// the file.
absl::StatusOr<std::string> LanguageOfLexicon(const std::filesystem::path& lexicon_file);

}  // namespace millrace::speech
