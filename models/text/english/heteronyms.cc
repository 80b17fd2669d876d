#include "models/text/english/heteronyms.h"

#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/part_of_speech.h"
#include "models/text/english/verbs_and_nouns_text.h"
#include "models/text/english/word_kinds.h"
#include "models/text/english/word_meaning.h"
#include "models/text/english/word_sounds_text.h"
#include "models/text/english/words_around.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

struct VerbAndNoun {
  std::string_view word;
  std::string_view verb;
  std::string_view noun;
  std::string_view misaki_verb;
  std::string_view misaki_noun;
};

std::optional<VerbAndNoun> FindVerbAndNoun(std::string_view word) {
  static const WordTable<5> words(kVerbsAndNounsText);
  const auto* const row = words.Find(word);
  if (row == nullptr) return std::nullopt;
  return VerbAndNoun{(*row)[0], (*row)[1], (*row)[2], (*row)[3], (*row)[4]};
}

// Returns the mnemonics of the "s" behind a word.
std::string_view EndingOf(std::string_view word) {
  if (word.ends_with("se") || word.ends_with("ce") || word.ends_with("ge") || word.ends_with("ch"))
    return "I2z";
  const char last = word[word.size() - (word.ends_with('e') ? 2 : 1)];
  return IsAmong("fkpt", last) ? "s" : "z";
}

// Returns true for an adjective in "-ate" before its noun, and for goods that are traded, where no
// article shows it: "Deliberate attempts", "import duties".
bool StandsBeforeNoun(std::string_view word, std::span<const SpokenWord> words, size_t at) {
  const WordsAround near(words, at);
  const std::string after = near.After();
  if (words.size() == 1) return word.ends_with("ate");
  if (word == "import" || word == "export") return IsOfKind(after, "traded");
  if (word == "compact" || word == "articulate")
    return near.Before().empty() && words[at].after == " " && !PrecedesNoun(after);
  return near.Before().empty() && !after.empty() && words[at].after == " " &&
         !PrecedesNoun(after) && !IsSubject(after) && !after.ends_with("s") &&
         !IsOfKind(after, "no-noun") && IsOfKind(word, "adjective-in-ate");
}

// Names and words about which a front end is wrong.
std::optional<WordSound> FindException(std::string_view word) {
  static const WordTable<3> words(kWordSoundsText);
  const auto* const row = words.Find(word);
  if (row == nullptr) return std::nullopt;
  return WordSound{(*row)[1], (*row)[2]};
}

}  // namespace

std::optional<WordSound> FindHeteronym(std::span<const SpokenWord> words, size_t at) {
  std::string word = AsciiLower(words[at].text);
  // "Élysées".
  if (word.find('\xC3') != word.npos) {
    word.clear();
    for (const char32_t c : DecodeUtf8(words[at].text)) word += EncodeUtf8(ToLower(c));
  }
  // The Greek letter is written small.
  if (auto exception = FindException(word); exception && words[at].text != "xi") return exception;
  if (auto meaning = FindMeaning(words[at], word, WordsAround(words, at))) return meaning;
  std::string_view ending;
  std::optional<VerbAndNoun> found = FindVerbAndNoun(word);
  if (!found && word.ends_with('s')) {
    found = FindVerbAndNoun(std::string_view(word).substr(0, word.size() - 1));
    ending = !found ? "" : EndingOf(found->word);
  }
  // "The invalid's chair".
  if (!found && word.ends_with("'s")) {
    found = FindVerbAndNoun(std::string_view(word).substr(0, word.size() - 2));
    if (found) return WordSound{"", found->noun, EndingOf(found->word)};
  }
  if (!found) return std::nullopt;
  const auto as_verb = [&] {
    return WordSound{ending.empty() ? found->misaki_verb : "", found->verb, ending};
  };
  const auto as_noun = [&] {
    return WordSound{ending.empty() ? found->misaki_noun : "", found->noun, ending};
  };
  switch (GuessPartOfSpeech(words, at)) {
    case PartOfSpeech::kVerb:
      return as_verb();
    case PartOfSpeech::kNoun:
      return as_noun();
    case PartOfSpeech::kAdjective:
      if (word == "close") return WordSound{"", "kl'oUs"};
      return word == "invalid" ? as_verb() : as_noun();
    case PartOfSpeech::kPredicate:
      if (word == "content") return as_verb();
      // "He is articulate".
      if (word.ends_with("ate")) return as_noun();
      return std::nullopt;
    case PartOfSpeech::kUnknown:
      // "Import duties", "Deliberate attempts".
      if (StandsBeforeNoun(word, words, at)) return as_noun();
      // "Use it" and the like, as the lexicon has it.
      if (IsOneOf(word, "use", "uses", "estimate", "increase")) return as_verb();
      // "Insert card."
      if (at == 0 && IsOneOf(word, "insert", "extract")) return as_verb();
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace millrace::models
