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
#include "models/text/english/word_pronouncer.h"
#include "models/text/phoneme_text.h"
#include "models/text/phoneme_vocabulary.h"
#include "models/text/word_fallback.h"

namespace millrace::models {

// A spoken word with its phonemes.
struct PhonemeToken {
  size_t begin = 0;  // bytes of the source text that it comes from
  size_t end = 0;
  std::string word;      // as SpokenWord::text; empty in a first token that only carries marks
  std::string phonemes;  // in misaki's symbols; empty if the word is unknown
  std::string after;     // as SpokenWord::after
};

// Joins the tokens' phonemes and marks for a Kokoro voice. Tokens from the same bytes, such as
// those of a number, are one word.
PhonemeText JoinPhonemes(std::span<const PhonemeToken> tokens);

// Turns English text into phonemes in misaki's symbols, on which Kokoro voices were trained. A word
// is looked up in this order: the pronunciation written into the text ("[word](/phonemes/)"), the
// operator's lexicon, the lexicon with its inflections, compounds and abbreviations, the fallback.
// Without a fallback unknown words are spelled out. Other scripts are named, not read.
// Thread-safe; about 5 us for a word of the lexicon, and one call of the fallback for each sentence
// with unknown words.
class EnglishG2p {
 public:
  struct Options {
    std::shared_ptr<const WordFallback> fallback;     // may be null
    std::shared_ptr<const UserLexicon> user_lexicon;  // may be null
    PhonemeVocabulary vocabulary;                     // for pronunciations in the text
  };

  EnglishG2p(EnglishLexicon lexicon, Options options);
  EnglishG2p(const EnglishG2p&) = delete;
  EnglishG2p& operator=(const EnglishG2p&) = delete;

  // Converts one sentence in UTF-8. Returns InvalidArgument like SplitInlinePronunciations, or the
  // error of the fallback. Time and output are linear in the text.
  absl::StatusOr<std::vector<PhonemeToken>> Phonemize(std::string_view sentence) const;

  EnglishDialect dialect() const { return lexicon_.dialect(); }

 private:
  // The state of a word while its phonemes are found.
  struct Work {
    Pronunciation pronunciation;
    bool known = false;
    bool given = false;  // prescribed by the text or by the operator
  };

  // Pronounces all words as far as that does not depend on the next word's sound.
  std::vector<Work> PronounceAlone(std::span<const SpokenWord> words,
                                   std::span<const std::string_view> given) const;
  absl::Status FillUnknown(std::span<const SpokenWord> words, std::vector<Work>& work) const;
  // Completes the words from the last to the first, because some depend on the sound of the next
  // one.
  void PronounceInContext(std::span<const SpokenWord> words, std::vector<Work>& work) const;

  const EnglishLexicon lexicon_;
  const Options options_;
  const TextNormalizer normalizer_;
  const WordPronouncer pronouncer_;
};

}  // namespace millrace::models
