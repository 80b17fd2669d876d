#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/english/english_lexicon.h"
#include "models/text/english/text_normalizer.h"
#include "models/text/english/user_lexicon.h"
#include "models/text/english/word_fallback.h"
#include "models/text/english/word_pronouncer.h"
#include "models/text/phoneme_text.h"
#include "models/text/phoneme_vocabulary.h"

namespace millrace::models {

// A spoken word with its phonemes.
struct PhonemeToken {
  size_t begin = 0;  // bytes of the source text that it comes from
  size_t end = 0;
  std::string word;      // as SpokenWord::text; empty in a first token that only carries marks
  std::string phonemes;  // in misaki's symbols; empty when nothing is known of the word
  std::string after;     // as SpokenWord::after
};

// What a Kokoro voice takes: phonemes and what comes behind them. Tokens that come from the same
// bytes, such as those of a number, are one word.
PhonemeText JoinPhonemes(std::span<const PhonemeToken> tokens);

// English text to phonemes in misaki's symbols, which Kokoro voices were trained on. A word is
// looked for in this order: the pronunciation written into the text ("[word](/phonemes/)"), the
// operator's lexicon, the lexicon with its inflections, compounds and abbreviations, the fallback;
// without a fallback unknown words are spelled out; East
// Asian characters are left out. Thread-safe; some 5 us a word of the lexicon,
// and one call of the fallback a sentence that has unknown words.
class EnglishG2p {
 public:
  struct Options {
    std::shared_ptr<const WordFallback> fallback;     // may be null
    std::shared_ptr<const UserLexicon> user_lexicon;  // may be null
    PhonemeVocabulary vocabulary;                     // of pronunciations in the text
  };

  EnglishG2p(EnglishLexicon lexicon, Options options);
  EnglishG2p(const EnglishG2p&) = delete;
  EnglishG2p& operator=(const EnglishG2p&) = delete;

  // One sentence, UTF-8. InvalidArgument as SplitInlinePronunciations; else what the fallback fails
  // with. Time and output are linear in the text.
  absl::StatusOr<std::vector<PhonemeToken>> Phonemize(std::string_view sentence) const;

  EnglishDialect dialect() const { return lexicon_.dialect(); }

 private:
  // A word on its way to its phonemes.
  struct Work {
    Pronunciation pronunciation;
    bool known = false;
    bool given = false;  // by the author of the text or the operator
  };

  // Pronounces all words but for what hangs on the next word's sound.
  std::vector<Work> PronounceAlone(std::span<const SpokenWord> words,
                                   std::span<const std::string_view> given) const;
  absl::Status FillUnknown(std::span<const SpokenWord> words, std::vector<Work>& work) const;
  // From the last word to the first: the sound of the next one is known then.
  void PronounceInContext(std::span<const SpokenWord> words, std::vector<Work>& work) const;

  const EnglishLexicon lexicon_;
  const Options options_;
  const TextNormalizer normalizer_;
  const WordPronouncer pronouncer_;
};

}  // namespace millrace::models
