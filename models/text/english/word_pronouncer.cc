#include "models/text/english/word_pronouncer.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/english/capitals.h"
#include "models/text/english/phonetics.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxCompoundParts = 8;

// Words of the lexicon that are more likely emphasised than abbreviations when in capitals.
constexpr std::array<std::string_view, 32> kEmphasised = {
    "AH", "AM",  "AN", "AS", "AT", "BE", "BY", "DO",  "GO",  "HE", "HI",
    "HM", "HMM", "IF", "IN", "IS", "ME", "MY", "NO",  "OF",  "OH", "OK",
    "ON", "OR",  "SO", "TO", "UP", "WE", "YE", "ACT", "ADD", "AID"};

bool AllAscii(std::string_view word, bool (*is)(char)) { return std::ranges::all_of(word, is); }

bool IsAllCapitals(std::string_view word) {
  return !word.empty() && AllAscii(word, [](char c) { return IsAsciiUpper(c); });
}

// Returns true for "U.S.A." or "J.".
bool IsDotted(std::string_view word) {
  if (word.size() < 2 || word.size() % 2 != 0) return false;
  for (size_t i = 0; i < word.size(); i += 2) {
    if (!IsAsciiLetter(word[i]) || word[i + 1] != '.') return false;
  }
  return true;
}

bool DoublesLast(std::string_view stem) {
  return stem.size() > 2 && stem[stem.size() - 1] == stem[stem.size() - 2] &&
         IsAmong("bcdgklmnprstvz", stem.back());
}

std::string_view NameOf(PartOfSpeech part) {
  switch (part) {
    case PartOfSpeech::kNoun:
      return "NOUN";
    case PartOfSpeech::kVerb:
      return "VERB";
    case PartOfSpeech::kAdjective:
    case PartOfSpeech::kPredicate:
      return "ADJ";
    case PartOfSpeech::kPast:
      return "VBD";
    case PartOfSpeech::kDemonstrative:
      return "DT";
    case PartOfSpeech::kUnknown:
      break;
  }
  return "DEFAULT";
}

}  // namespace

std::string WordPronouncer::Fixed(std::string_view word) const {
  const auto entry = lexicon_.Find(word);
  return entry ? std::string(entry->phonemes()) : std::string();
}

std::string WordPronouncer::Spell(std::string_view word) const {
  constexpr std::array<std::string_view, 10> kDigits = {"zero", "one", "two",   "three", "four",
                                                        "five", "six", "seven", "eight", "nine"};
  std::string phonemes;
  for (const char c : word) {
    if (IsAsciiLetter(c)) {
      const char upper = AsciiUpper(c);
      phonemes += Fixed(std::string_view(&upper, 1));
    } else if (IsAsciiDigit(c)) {
      phonemes += Fixed(kDigits[static_cast<size_t>(c - '0')]);
    }
  }
  phonemes = DemoteStress(phonemes);
  if (const size_t last = phonemes.rfind(kSecondaryStress); last != std::string::npos) {
    static_assert(kPrimaryStress.size() == kSecondaryStress.size());
    std::ranges::copy(kPrimaryStress, phonemes.begin() + static_cast<ptrdiff_t>(last));
  }
  return phonemes;
}

std::optional<Pronunciation> WordPronouncer::Pronounce(std::string_view word,
                                                       const WordContext& context) const {
  if (word.empty()) return Pronunciation{};
  if (IsDotted(word)) return Pronunciation{Spell(word), false};
  if (auto special = Special(word, context)) return special;
  if (auto simple = Simple(word, context)) {
    const auto entry = FindInEitherCase(word);
    return Pronunciation{*std::move(simple), entry && entry->Variant("None").has_value()};
  }
  if (auto compound = Compound(word, context)) return Pronunciation{*std::move(compound), false};
  // "PhDs".
  if (word.size() > 2 && word.ends_with('s') && IsAsciiUpper(word[word.size() - 2]) &&
      std::ranges::count_if(word, IsAsciiUpper) >= 2) {
    return Pronunciation{WithS(Spell(word.substr(0, word.size() - 1)), lexicon_.dialect()), false};
  }
  // "IPv", "kWh".
  constexpr size_t kMaxMixed = 4;
  const auto capitals = std::ranges::count_if(word, [](char c) { return IsAsciiUpper(c); });
  if (word.size() <= kMaxMixed && capitals >= 2 &&
      ReadingOfCapitals(word) != CapitalsReading::kWord)
    return Pronunciation{Spell(word), false};
  return std::nullopt;
}

std::optional<Pronunciation> WordPronouncer::Special(std::string_view word,
                                                     const WordContext& context) const {
  if (word == "a") return Pronunciation{"ɐ", false};
  if (word == "A") {
    const bool article = context.word_follows && (context.first || context.all_capitals);
    return Pronunciation{article ? "ɐ" : "ˈA", false};
  }
  if (word == "I") return Pronunciation{"ˌI", false};
  if (word.size() > 4) return std::nullopt;
  const std::string lower = AsciiLower(word);
  if (lower == "an") return Pronunciation{"ɐn", false};
  if (lower == "the") return Pronunciation{context.vowel_follows == true ? "ði" : "ðə", true};
  if (lower == "to") {
    if (!context.vowel_follows) return Pronunciation{Fixed("to"), true};
    return Pronunciation{*context.vowel_follows ? "tʊ" : "tə", true};
  }
  if (lower == "in") return Pronunciation{context.vowel_follows ? "ɪn" : "ˈɪn", true};
  if (word == "am") return Pronunciation{context.vowel_follows ? "ɐm" : Fixed("am"), true};
  if (lower == "used") {
    const auto entry = lexicon_.Find("used");
    if (!entry) return std::nullopt;
    const auto habit = entry->Variant("VBD");
    // "used to be", not "is used to cut".
    const bool passive = context.part_of_speech == PartOfSpeech::kPredicate;
    const bool use_habit = context.to_follows && !passive && habit;
    return Pronunciation{std::string(use_habit ? *habit : entry->phonemes()), false};
  }
  return std::nullopt;
}

std::optional<LexiconEntry> WordPronouncer::FindInEitherCase(std::string_view word) const {
  if (auto exact = lexicon_.Find(word)) return exact;
  if (word.size() < 2) return std::nullopt;
  // Finds "Hello" for "hello", and "london" for "London".
  const std::string lower = AsciiLower(word);
  if (word == lower) return lexicon_.Find(AsciiCapitalised(word));
  if (word == AsciiCapitalised(word)) return lexicon_.Find(lower);
  return std::nullopt;
}

std::string WordPronouncer::Choose(const LexiconEntry& entry, std::string_view word,
                                   const WordContext& context) const {
  if (!entry.HasVariants()) return std::string(entry.phonemes());
  if (!context.vowel_follows) {
    if (const auto weak = entry.Variant("None")) return std::string(*weak);
  }
  auto variant = entry.Variant(NameOf(context.part_of_speech));
  if (context.part_of_speech == PartOfSpeech::kAdjective) {
    // "The use case" speaks of a use, so the noun's sound is taken. The words below are adjectives
    // that sound otherwise as nouns.
    const std::string lower = AsciiLower(word);
    const bool itself = lower == "close" || lower == "invalid" || lower == "upset";
    if (!variant && !itself) variant = entry.Variant("NOUN");
  }
  if (variant && variant->empty()) return Spell(word);
  return std::string(variant.value_or(entry.phonemes()));
}

std::optional<std::string> WordPronouncer::Capitals(std::string_view word,
                                                    const WordContext& context) const {
  const CapitalsReading reading = ReadingOfCapitals(word);
  if (context.all_capitals ? IsSpelledInCapitals(word) : reading == CapitalsReading::kLetters)
    return Spell(word);
  const std::string lower = AsciiLower(word);
  const bool emphasised = std::ranges::find(kEmphasised, word) != kEmphasised.end();
  if (const auto exact = lexicon_.Find(word); exact && word.size() > 1) {
    const bool letters = exact->Variant("NOUN") == std::string_view();
    if (letters && !context.all_capitals && !emphasised) return Spell(word);
    return std::string(exact->phonemes());
  }
  const auto entry = FindInEitherCase(lower);
  const bool known_word = reading == CapitalsReading::kWord;
  const bool is_word = entry && (context.all_capitals || emphasised || known_word ||
                                 (entry->checked() && word.size() > 2) || word.size() > 4);
  if (is_word) return EnsurePrimaryStress(Choose(*entry, lower, context));
  if (context.all_capitals || word.size() > 5) {
    if (auto inflected = Inflected(lower, context)) return EnsurePrimaryStress(*inflected);
  }
  // A long word in capitals is rather shouted than an abbreviation.
  if (word.size() > 6 || known_word) return std::nullopt;
  return Spell(word);
}

std::optional<std::string> WordPronouncer::Simple(std::string_view word,
                                                  const WordContext& context) const {
  if (word.size() > 1 && IsAllCapitals(word)) return Capitals(word, context);
  if (ReadingOfCapitals(word) == CapitalsReading::kLetters) return Spell(word);
  if (word.size() == 1 && IsAsciiLetter(word[0]) && !lexicon_.Find(word)) return Spell(word);
  const bool capital = AsciiLower(word) != word;
  if (const auto entry = FindInEitherCase(word)) {
    const std::string phonemes = Choose(*entry, word, context);
    return capital ? EnsureSecondaryStress(phonemes) : phonemes;
  }
  auto inflected = Inflected(word, context);
  if (!inflected && capital) {
    const std::string lower = AsciiLower(word);
    if (word == AsciiCapitalised(word)) inflected = Inflected(lower, context);
  }
  if (inflected && capital) return EnsureSecondaryStress(*inflected);
  return inflected;
}

std::optional<std::string> WordPronouncer::Stem(std::string_view word,
                                                const WordContext& context) const {
  if (word.empty()) return std::nullopt;
  if (word.size() > 1 && IsAllCapitals(word)) return Capitals(word, context);
  if (const auto entry = FindInEitherCase(word)) return Choose(*entry, word, context);
  if (word.size() == 1 && IsAsciiLetter(word[0])) return Spell(word);
  return std::nullopt;
}

std::optional<std::string> WordPronouncer::Inflected(std::string_view word,
                                                     const WordContext& context) const {
  const EnglishDialect dialect = lexicon_.dialect();
  const auto without = [&](size_t bytes) { return word.substr(0, word.size() - bytes); };
  if (word.ends_with("'s")) {
    auto stem = Stem(without(2), context);
    if (!stem) stem = Inflected(without(2), context);
    if (stem) return WithS(*stem, dialect);
    return std::nullopt;
  }
  if (word.ends_with('\'')) {
    if (auto stem = Stem(without(1), context)) return stem;
    return Inflected(without(1), context);
  }
  if (word.size() >= 3 && word.ends_with('s') && !word.ends_with("ss")) {
    if (const auto stem = Stem(without(1), context)) return WithS(*stem, dialect);
    if (word.size() > 4 && word.ends_with("ies")) {
      if (const auto stem = Stem(std::string(without(3)) + "y", context)) {
        return WithS(*stem, dialect);
      }
    } else if (word.size() > 4 && word.ends_with("es")) {
      if (const auto stem = Stem(without(2), context)) return WithS(*stem, dialect);
    }
  }
  if (word.size() >= 4 && word.ends_with("ed")) {
    if (const auto stem = Stem(without(1), context)) return WithEd(*stem, dialect);
    if (word.size() > 4 && !word.ends_with("eed")) {
      if (const auto stem = Stem(without(2), context)) return WithEd(*stem, dialect);
      if (word.ends_with("ied")) {
        if (const auto stem = Stem(std::string(without(3)) + "y", context)) {
          return WithEd(*stem, dialect);
        }
      }
      if (DoublesLast(without(2))) {
        if (const auto stem = Stem(without(3), context)) return WithEd(*stem, dialect);
      }
    }
  }
  if (word.size() >= 5 && word.ends_with("ing")) {
    if (word.size() > 5) {
      if (const auto stem = Stem(without(3), context)) {
        return WithIng(*stem, dialect, without(3).ends_with('r'));
      }
    }
    if (const auto stem = Stem(std::string(without(3)) + "e", context)) {
      return WithIng(*stem, dialect, without(3).ends_with('r'));
    }
    if (word.size() > 5 && (DoublesLast(without(3)) || word.ends_with("cking"))) {
      if (const auto stem = Stem(without(4), context)) {
        return WithIng(*stem, dialect, without(4).ends_with('r'));
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> WordPronouncer::Compound(std::string_view word,
                                                    const WordContext& context) const {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t i = 1; i <= word.size(); ++i) {
    const bool hyphen = i < word.size() && word[i] == '-';
    // "YouTube", "JavaScript".
    const bool hump = i < word.size() && IsAsciiLower(word[i - 1]) && IsAsciiUpper(word[i]);
    if (i < word.size() && !hyphen && !hump) continue;
    if (i > begin) parts.push_back(word.substr(begin, i - begin));
    begin = hyphen ? i + 1 : i;
  }
  if (parts.size() < 2 || parts.size() > kMaxCompoundParts) return std::nullopt;
  std::vector<std::string> spoken;
  for (const std::string_view part : parts) {
    WordContext inside = context;
    inside.vowel_follows = false;  // weak forms
    inside.part_of_speech = PartOfSpeech::kUnknown;
    auto special = part.size() > 1 ? Special(part, inside) : std::nullopt;
    auto phonemes = special ? std::optional(std::move(special->phonemes)) : Simple(part, inside);
    if (!phonemes) return std::nullopt;
    spoken.push_back(*std::move(phonemes));
  }
  // Too many stresses in one word: the lighter parts yield theirs.
  std::vector<std::tuple<bool, size_t, size_t>> order;
  size_t primaries = 0;
  for (size_t i = 0; i < spoken.size(); ++i) {
    const bool primary = spoken[i].find(kPrimaryStress) != std::string::npos;
    primaries += primary ? 1 : 0;
    order.emplace_back(primary, StressWeight(spoken[i]), i);
  }
  if (spoken.size() == 2 && parts[0].size() == 1) {
    spoken[1] = DemoteStress(spoken[1]);
  } else if (primaries > (spoken.size() + 1) / 2) {
    std::ranges::sort(order);
    for (size_t i = 0; i < spoken.size() / 2; ++i) {
      std::string& part = spoken[std::get<2>(order[i])];
      part = DemoteStress(part);
    }
  }
  std::string phonemes;
  for (const std::string& part : spoken) phonemes += part;
  return phonemes;
}

}  // namespace millrace::models
