#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "models/text/english/english_lexicon.h"
#include "models/text/english/part_of_speech.h"

namespace millrace::models {

// The context of a word, as far as it changes how the word sounds.
struct WordContext {
  PartOfSpeech part_of_speech = PartOfSpeech::kUnknown;
  // True if the next word begins with a vowel; nullopt before a pause or at the end.
  std::optional<bool> vowel_follows;
  bool to_follows = false;    // the next word is "to"
  bool first = false;         // the first word of its sentence
  bool word_follows = false;  // a word follows without a pause
  bool all_capitals = false;  // the whole sentence is written in capitals
  std::string_view before;    // the neighbouring words, in lower case
  std::string_view after;
};

struct Pronunciation {
  std::string phonemes;
  // True if the result depends on vowel_follows: a, the, to, words with a weak form.
  bool depends_on_next = false;
};

// Finds the phonemes of an English word in the lexicon: as it is written, in other case, as an
// inflected form (-s, -ed, -ing, 's) or a compound of known words, or as the letters of an
// abbreviation. Thread-safe; borrows the lexicon; 1 to 10 us for a word.
class WordPronouncer {
 public:
  explicit WordPronouncer(const EnglishLexicon& lexicon) : lexicon_(lexicon) {}

  // Returns nullopt when the word is unknown.
  std::optional<Pronunciation> Pronounce(std::string_view word, const WordContext& context) const;
  // Returns the names of the ASCII letters and digits, with the last one stressed; other characters
  // are left out.
  std::string Spell(std::string_view word) const;

 private:
  enum class Emphasis { kNone, kCapital, kAllCapitals };

  std::optional<Pronunciation> Special(std::string_view word, const WordContext& context) const;
  std::optional<std::string> Simple(std::string_view word, const WordContext& context) const;
  std::optional<std::string> Capitals(std::string_view word, const WordContext& context) const;
  // Finds the word with an upper-case or a lower-case first letter.
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
