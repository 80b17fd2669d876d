#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "models/text/english/english_lexicon.h"
#include "models/text/english/part_of_speech.h"

namespace millrace::models {

// What surrounds a word, as far as it changes how the word sounds.
struct WordContext {
  PartOfSpeech part_of_speech = PartOfSpeech::kUnknown;
  // How the next word begins; nullopt before a pause or at the end.
  std::optional<bool> vowel_follows;
  bool to_follows = false;    // the next word is "to"
  bool first = false;         // of its sentence
  bool word_follows = false;  // without a pause
  bool all_capitals = false;  // the whole sentence is written in capitals
  std::string_view before;    // the words next to it, in small letters
  std::string_view after;
};

struct Pronunciation {
  std::string phonemes;
  // Whether vowel_follows counted: a, the, to, words with a weak form.
  bool depends_on_next = false;
};

// Phonemes of one English word from the lexicon: as it is written, in other letter case, as an
// inflected form of a word that is there (-s, -ed, -ing, 's), as a compound of such words, or as
// letters of an abbreviation. Thread-safe; borrows the lexicon; 1 to 10 us a word.
class WordPronouncer {
 public:
  explicit WordPronouncer(const EnglishLexicon& lexicon) : lexicon_(lexicon) {}

  // Nullopt when the word is unknown.
  std::optional<Pronunciation> Pronounce(std::string_view word, const WordContext& context) const;
  // The names of the ASCII letters and digits, with the last one stressed; other characters are
  // left out.
  std::string Spell(std::string_view word) const;

 private:
  enum class Emphasis { kNone, kCapital, kAllCapitals };

  std::optional<Pronunciation> Special(std::string_view word, const WordContext& context) const;
  std::optional<std::string> Simple(std::string_view word, const WordContext& context) const;
  std::optional<std::string> Capitals(std::string_view word, const WordContext& context) const;
  // The word with a capital or a small first letter.
  std::optional<LexiconEntry> FindInEitherCase(std::string_view word) const;
  std::optional<std::string> Stem(std::string_view word, const WordContext& context) const;
  std::optional<std::string> Inflected(std::string_view word, const WordContext& context) const;
  std::optional<std::string> Compound(std::string_view word, const WordContext& context) const;
  std::string Choose(const LexiconEntry& entry, std::string_view word,
                     const WordContext& context) const;
  std::string Fixed(std::string_view word) const;

  const EnglishLexicon& lexicon_;
};

}  // namespace millrace::models
