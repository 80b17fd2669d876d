#include "models/text/english/respelled_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "models/text/ascii.h"
#include "models/text/english/capitals.h"
#include "models/text/english/heteronyms.h"
#include "models/text/english/part_of_speech.h"
#include "models/text/english/word_kinds.h"
#include "models/text/written_words.h"

namespace millrace::models {
namespace {

// A word whose sound depends on its part of speech, where espeak-ng does not distinguish them.
struct Heteronym {
  std::string_view word;
  PartOfSpeech part;
  std::string_view respelled;
};

constexpr std::array<Heteronym, 13> kHeteronyms = {{
    {"abuse", PartOfSpeech::kVerb, "abuze"},
    {"close", PartOfSpeech::kVerb, "cloze"},
    {"excuse", PartOfSpeech::kVerb, "excuze"},
    {"house", PartOfSpeech::kVerb, "howz"},
    {"live", PartOfSpeech::kAdjective, "lyve"},
    {"produce", PartOfSpeech::kNoun, "proe-duce"},
    {"read", PartOfSpeech::kPast, "red"},
    {"read", PartOfSpeech::kVerb, "reed"},
    {"reread", PartOfSpeech::kPast, "re-red"},
    {"reuse", PartOfSpeech::kVerb, "re-yooze"},
    {"use", PartOfSpeech::kVerb, "yooze"},
    {"wind", PartOfSpeech::kVerb, "wined"},
    {"wound", PartOfSpeech::kPast, "wownd"},
}};

// The letter, which alone is an article.
constexpr std::string_view kLetterA = "eigh";

bool IsCapitals(std::string_view word) {
  if (word.empty()) return false;
  for (const char c : word) {
    if (!IsAsciiUpper(c)) return false;
  }
  return true;
}

bool EndsClause(const SpokenWord& word) {
  return word.after.find_first_of(",;:.!?") != std::string::npos;
}

bool IsNumberOf(std::string_view source, const SpokenWord& word) {
  return word.begin < source.size() && IsAsciiDigit(source[word.begin]);
}

// Returns true if "A" is the letter: of initials, of a code, or between others ("A/B").
bool IsLetterA(std::span<const SpokenWord> words, size_t at, std::string_view source) {
  const SpokenWord& word = words[at];
  if (word.text == "A." || word.text == "a.") return true;
  if (word.text != "A") return false;
  const bool first = at == 0 || (at == 1 && words[0].text.empty()) ||
                     words[at - 1].after.find_first_of(".!?:\xE2(") != std::string::npos;
  const bool letter_follows = at + 1 < words.size() && words[at + 1].text.size() == 1 &&
                              IsAsciiUpper(words[at + 1].text[0]) && words[at + 1].text != "I";
  const bool number_follows =
      at + 1 < words.size() && words[at + 1].begin == word.end && IsNumberOf(source, words[at + 1]);
  return !first || letter_follows || number_follows;
}

// Returns capital letters as espeak-ng's mnemonics, which it reads alike in every sentence.
std::string SpellForEspeak(std::string_view letters, bool plural) {
  struct Letter {
    std::string_view onset;
    std::string_view rest;
  };
  constexpr std::array<Letter, 26> kLetters = {
      {{"", "eI"},   {"b", "i:"},  {"s", "i:"}, {"d", "i:"},  {"", "i:"},       {"", "Ef"},
       {"dZ", "i:"}, {"", "eItS"}, {"", "aI"},  {"dZ", "eI"}, {"k", "eI"},      {"", "El"},
       {"", "Em"},   {"", "En"},   {"", "oU"},  {"p", "i:"},  {"kj", "u:"},     {"", "A@"},
       {"", "Es"},   {"t", "i:"},  {"j", "u:"}, {"v", "i:"},  {"d", "Vb@Lju:"}, {"", "Eks"},
       {"w", "aI"},  {"z", "i:"}}};
  std::string mnemonics = "[[";
  for (size_t i = 0; i < letters.size(); ++i) {
    const char c = AsciiLower(letters[i]);
    if (!IsAsciiLower(c)) continue;
    const Letter& letter = kLetters[static_cast<size_t>(c - 'a')];
    mnemonics += letter.onset;
    mnemonics += i + 1 == letters.size() ? '\'' : ',';
    mnemonics += letter.rest;
  }
  if (plural)
    mnemonics += letters.ends_with('H') || letters.ends_with('S') || letters.ends_with('X') ? "I2z"
                 : letters.ends_with('F')                                                   ? "s"
                                                                                            : "z";
  return mnemonics + "]]";
}

// Returns true for abbreviations that are spelled in a sentence of capitals, too.
bool StaysCapital(std::string_view word) {
  return word.find_first_of("AEIOUY") == std::string_view::npos || IsSpelledInCapitals(word);
}

// Returns true if the clause of words[at] has more capitals than small letters, so that espeak-ng
// takes it for shouted and reads abbreviations in it as words: "My POV on AI".
bool IsClauseOfCapitals(std::span<const SpokenWord> words, size_t at) {
  size_t begin = at;
  while (begin > 0 && !EndsClause(words[begin - 1])) --begin;
  std::ptrdiff_t capitals = 0;
  for (size_t i = begin; i < words.size() && (i <= at || !EndsClause(words[i - 1])); ++i) {
    for (const char c : words[i].text) capitals += IsAsciiUpper(c) ? 1 : IsAsciiLower(c) ? -1 : 0;
  }
  return capitals > 0;
}

// Returns the text that espeak-ng is given for words[at]. shouted: the sentence is in capitals.
std::string Respell(std::span<const SpokenWord> words, size_t at, std::string_view source,
                    EnglishDialect dialect, bool shouted) {
  const SpokenWord& word = words[at];
  if (dialect == EnglishDialect::kUs) {
    if (const auto sound = FindHeteronym(words, at); sound && !sound->espeak.empty())
      return "[[" + std::string(sound->espeak) + std::string(sound->espeak_ending) + "]]";
    const std::string_view stem(word.text.data(),
                                word.text.size() - (word.text.ends_with('s') ? 1 : 0));
    const auto capitals = static_cast<size_t>(std::ranges::count_if(stem, IsAsciiUpper));
    const bool plural = stem.size() < word.text.size() && stem.size() > 1 && capitals >= 2 &&
                        IsAsciiUpper(stem.back()) && stem.size() <= 4;
    if (ReadingOfCapitals(plural ? stem : word.text) == CapitalsReading::kWord ||
        IsOfKind(word.text, "possessive-of-acronym"))
      return AsciiLower(word.text);
    constexpr size_t kMaxSpelled = 3;
    if (plural && stem.size() > kMaxSpelled && stem.find_first_of("AEIOUY") >= kMaxSpelled)
      return SpellForEspeak(stem, true);  // "GCSEs"
    // Four letters with a vowel are a word to espeak-ng, as "GOAT" is: "the GOATs".
    if (plural && stem.size() > kMaxSpelled && stem.find_first_of("AEIOU") != stem.npos &&
        ReadingOfCapitals(stem) != CapitalsReading::kLetters)
      return AsciiLower(word.text);
    if (plural && std::ranges::all_of(stem, IsAsciiLetter)) return SpellForEspeak(stem, true);
    if (!shouted && ReadingOfCapitals(word.text) == CapitalsReading::kLetters)
      return SpellForEspeak(word.text, false);
    const bool may_be_letters = !shouted && word.text.size() > 1 &&
                                word.text.size() <= kMaxSpelled && IsCapitals(word.text);
    // Alone between two marks, espeak-ng takes any of them for a word: "AWS, GCP and Azure".
    if (may_be_letters && (at == 0 || EndsClause(words[at - 1])) && EndsClause(word))
      return SpellForEspeak(word.text, false);
    if (may_be_letters && !IsShortWordInCapitals(word.text) && IsClauseOfCapitals(words, at))
      return SpellForEspeak(word.text, false);
    if (word.text == "AM" && !shouted && at > 0 && words[at - 1].text == "I") return "am";
    if (word.text == "WHO" && !shouted) return SpellForEspeak(word.text, false);
    if (shouted && word.text.size() > 1 && IsCapitals(word.text) && !StaysCapital(word.text))
      return AsciiLower(word.text);
  }
  if (word.text == "Ms.") return "miz";
  if (IsLetterA(words, at, source) && (!shouted || word.text != "A")) return std::string(kLetterA);
  // A flight's "BA" is two letters; "COVID" is a word.
  const bool code = word.text.size() == 2 && IsCapitals(word.text) && at + 1 < words.size() &&
                    words[at + 1].begin == word.end && IsNumberOf(source, words[at + 1]);
  if (code) return {word.text[0], '.', word.text[1], '.'};
  const std::string lower = AsciiLower(word.text);
  for (const Heteronym& heteronym : kHeteronyms) {
    if (heteronym.word == lower && GuessPartOfSpeech(words, at) == heteronym.part)
      return std::string(heteronym.respelled);
  }
  std::string text = word.text;
  // espeak-ng ends a sentence at a stop after a single letter, and at two stops.
  if (text.size() == 2 && text[1] == '.') text.pop_back();
  if (text.ends_with('.') && (word.after.starts_with('.') || text == "etc.")) text.pop_back();
  return text;
}

}  // namespace

RespelledText RespellForEspeak(const TextNormalizer& normalizer, std::string_view sentence) {
  const std::vector<SpokenWord> spoken = normalizer.Normalize(sentence);
  const std::vector<WrittenWord> written = SplitWrittenWords(sentence);
  const bool shouted = IsShouted(spoken);
  RespelledText respelled;
  size_t next = 0;  // an index of the written words
  for (size_t i = 0; i < spoken.size(); ++i) {
    const SpokenWord& word = spoken[i];
    const std::string said =
        word.text.empty() ? "" : Respell(spoken, i, sentence, normalizer.dialect(), shouted);
    const bool apart = i > 0 && !spoken[i - 1].after.empty();
    respelled.text += said;
    respelled.text += word.after;
    if (said.empty()) continue;
    std::vector<PartToSpeak>& words = respelled.words;
    // The word may continue the written word of the one before.
    const bool same = !words.empty() && word.begin < words.back().end;
    if (!same) {
      while (next < written.size() && written[next].end <= word.begin) ++next;
      if (next < written.size() && written[next].begin < word.end) {
        words.push_back({written[next].begin, written[next].end, ""});
      } else {
        words.push_back({word.begin, word.end, ""});
      }
    }
    PartToSpeak& part = words.back();
    // A reading may take several written words; marks after them are not part of it.
    while (next < written.size() && written[next].begin < word.end) {
      part.end = std::max(part.end, written[next].end);
      ++next;
    }
    if (!part.spoken.empty() && apart) part.spoken += ' ';
    part.spoken += said;
  }
  return respelled;
}

}  // namespace millrace::models
