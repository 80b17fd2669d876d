#include "models/text/english/part_of_speech.h"

#include <algorithm>
#include <string>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"
#include "models/text/english/words_around.h"

namespace millrace::models {
namespace {

constexpr WordSet kBeforeVerb(
    "can can't cannot could couldn't did didn't do does doesn't don't he'd he'll help i i'd i'll "
    "it'll let's may might must mustn't needn't ought people please shall she'd she'll should "
    "shouldn't that'll they they'd they'll to we we'd we'll who who'd who'll will won't would "
    "wouldn't you you'd you'll");
constexpr WordSet kBeforeNoun(
    "a all an another any best big both each every few first good great her high his its last "
    "little long low many more most much my new next no of old one our own same small some such "
    "that the their these this those your");
constexpr WordSet kBe("am are aren't be been being isn't is it's was wasn't were weren't");
constexpr WordSet kHave(
    "had hadn't has hasn't have haven't having he's i've she's they've we've who've you've");
constexpr WordSet kObjects(
    "a all an any each every her him himself his it its itself me my myself our some that the "
    "their them themselves these this us you your yourself");
// Words that follow a noun rather than belong to a group that a noun ends.
constexpr WordSet kFunctionWords(
    "about above after again against ago among and are as at away because before behind below "
    "between but by can could did do does down during for from had has have here if in into is "
    "later may must now of off on or out over should so than that then there to under until was "
    "were while will with");
constexpr WordSet kAdverbs(
    "also always ever even just never not now often only really simply still then");
constexpr WordSet kPlaces(
    "alone among apart as at by far here in near on outside there together under with");
constexpr WordSet kBeforeInfinitive(
    "can could did do does have hear heard help helped helps let lets made make makes may might "
    "must saw see should watch watched will would");
constexpr WordSet kBeforeDemonstrative(
    "about after at before by did do does for from in is like of on than through to was what why "
    "with");

bool EndsGroup(const SpokenWord& word) {
  return word.after.find_first_not_of(' ') != std::string::npos;
}

// Returns the word before, past adverbs; empty at the start or after a pause.
std::string Before(std::span<const SpokenWord> words, size_t at) {
  for (size_t steps = 0; steps < 2 && at > 0; ++steps) {
    --at;
    if (EndsGroup(words[at])) return {};
    std::string word = AsciiLower(words[at].text);
    if (steps == 1 || !kAdverbs.Contains(word)) return word;
  }
  return {};
}

std::string After(std::span<const SpokenWord> words, size_t at) {
  if (at + 1 >= words.size() || EndsGroup(words[at])) return {};
  return AsciiLower(words[at + 1].text);
}

bool IsCardinal(std::string_view word) {
  return IsOneOf(word, "two", "three", "four", "five", "six", "ten", "hundred", "thousand");
}

// Returns true if one of the words indicates the past.
bool IndicatesPast(std::span<const SpokenWord> words) {
  constexpr size_t kFarthest = 40;
  for (const SpokenWord& word : words.subspan(0, std::min(words.size(), kFarthest))) {
    const std::string lower = AsciiLower(word.text);
    if (IsOneOf(lower, "yesterday", "ago", "last", "was", "were", "once", "had", "then"))
      return true;
  }
  return false;
}

// Returns true if the subject of "read" is one person, who would read it now with an s: "My mother
// read the book".
bool IsReadByOne(std::span<const SpokenWord> words, size_t at, std::string_view before,
                 std::string_view after) {
  if (IsOneOf(before, "anybody", "everybody", "everyone", "nobody", "somebody", "someone"))
    return at < 2 || !IsOneOf(AsciiLower(words[at - 2].text), "can", "did", "does", "has", "will");
  if (at < 2 || !kObjects.Contains(after) || before.ends_with('s') || EndsGroup(words[at - 2]) ||
      IsOneOf(before, "children", "men", "people", "women") || before.ends_with("ly"))
    return false;
  const std::string pointer = AsciiLower(words[at - 2].text);
  if (!IsOneOf(pointer, "a", "her", "his", "my", "our", "the", "their", "your")) return false;
  // "Let the boy read it", "did your mother read it".
  return at < 3 || !kBeforeInfinitive.Contains(AsciiLower(words[at - 3].text));
}

// Returns true if one person who is named is the subject of "read": "Dr. Smith read out the list".
bool IsReadByName(std::span<const SpokenWord> words, size_t at, std::string_view after) {
  if (at < 2 || EndsGroup(words[at - 1]) || EndsGroup(words[at - 2]) ||
      (!kObjects.Contains(after) && !IsOneOf(after, "about", "aloud", "from", "out")))
    return false;
  const std::string_view name = words[at - 1].text;
  if (name.size() < 3 || !IsAsciiUpper(name[0]) || !IsAsciiLower(name[1]) || name.ends_with('s'))
    return false;
  return std::ranges::none_of(words.first(at - 1), [](const SpokenWord& word) {
    return kBeforeInfinitive.Contains(AsciiLower(word.text));
  });
}

// Returns true if people or things are the subject of the word, which has an object or an adverb
// behind it: "The police suspect fraud", "Farmers produce milk".
bool IsVerbOfPlural(std::span<const SpokenWord> words, size_t at, std::string_view word,
                    std::string_view before, std::string_view after) {
  if (after.empty() || word.ends_with('s') || kFunctionWords.Contains(after)) return false;
  if (before == "police") return word == "suspect" && !after.ends_with("ed");
  const bool plural = IsOneOf(before, "children", "men", "women") ||
                      (before.size() > 3 && before.ends_with('s') && !before.ends_with("ss") &&
                       !before.ends_with("'s") && !IsOfKind(before, "singular-in-s"));
  const std::string determiner = at > 1 ? AsciiLower(words[at - 2].text) : "";
  return plural && (at == 1 || kBeforeNoun.Contains(determiner) || IsCardinal(determiner));
}

// Returns true for a word, also with an s behind it.
bool IsFormOf(std::string_view form, std::string_view word) {
  return form.starts_with(word) &&
         (form.size() == word.size() || (form.size() == word.size() + 1 && form.ends_with('s')));
}

}  // namespace

PartOfSpeech GuessPartOfSpeech(std::span<const SpokenWord> words, size_t at) {
  const std::string word = AsciiLower(words[at].text);
  const std::string before = Before(words, at);
  const std::string after = After(words, at);
  if (word == "that") {
    const bool points = at == 0 || after.empty() || kBeforeDemonstrative.Contains(before);
    return points ? PartOfSpeech::kDemonstrative : PartOfSpeech::kUnknown;
  }
  constexpr size_t kShortest = 5;
  // "The rebels rebel", "the advocate advocates reform": a subject and its verb.
  const bool verb_of_subject =
      word.size() >= kShortest && at > 0 &&
      ((before.size() == word.size() + 1 && IsFormOf(before, word)) ||
       (at > 1 && word.size() == before.size() + 1 && IsFormOf(word, before))) &&
      (at == 1 || kBeforeNoun.Contains(AsciiLower(words[at - 2].text)));
  if (verb_of_subject) return PartOfSpeech::kVerb;
  // "It permits permit holders" and "farmers produce produce", but "suspects suspect him".
  if (word.size() >= kShortest && at > 1 && IsFormOf(before, word))
    return after.empty() || kFunctionWords.Contains(after) ? PartOfSpeech::kNoun
                                                           : PartOfSpeech::kAdjective;
  if (word.size() > kShortest && !before.empty() && word != after && IsFormOf(word, after) &&
      !after.empty())
    return kBeforeNoun.Contains(before) ? PartOfSpeech::kNoun : PartOfSpeech::kVerb;
  if (kHave.Contains(before)) return PartOfSpeech::kPast;
  if (kBe.Contains(before) || before.ends_with("'re") || before == "i'm") {
    return word == "read" || word == "wound" ? PartOfSpeech::kPast : PartOfSpeech::kPredicate;
  }
  // "Two things, so separate them", but "so separate an issue".
  if (before == "so" && kObjects.Contains(after) && after != "a" && after != "an")
    return PartOfSpeech::kVerb;
  if (before == "too" || before == "very" || before == "so" || before == "quite") {
    return PartOfSpeech::kPredicate;
  }
  if (word == "read" || word == "reread") {
    if (IsReadByName(words, at, after)) return PartOfSpeech::kPast;
    if (before == "well") return PartOfSpeech::kPast;
    if (IsReadByOne(words, at, before, after)) return PartOfSpeech::kPast;
    if (before == "he" || before == "she" || before == "it") return PartOfSpeech::kPast;
    // "Do you read what I read yesterday?"
    const bool open = IsOneOf(before, "i", "they", "we", "you") &&
                      (at < 2 || !kBeforeInfinitive.Contains(AsciiLower(words[at - 2].text)));
    if (open && IndicatesPast(words)) return PartOfSpeech::kPast;
    // "I read that you left": it was said before.
    const std::string behind = at + 2 < words.size() ? AsciiLower(words[at + 2].text) : "";
    if (open && after == "that" && IsOfKind(behind, "begins-clause") &&
        (at < 2 || !IsOneOf(AsciiLower(words[at - 2].text), "did", "do", "if", "that", "when")))
      return PartOfSpeech::kPast;
  }
  // "Are they separate?"
  if (at == 2 && IsSubject(before) && kBe.Contains(AsciiLower(words[0].text)) &&
      word.ends_with("ate"))
    return PartOfSpeech::kPredicate;
  // "This permits entry": no noun in the plural is behind "this".
  if ((before == "this" || before == "that") && word.ends_with('s') && !word.ends_with("ss"))
    return PartOfSpeech::kVerb;
  // "Due to conflicts": no verb behind "to" has an s.
  if (before == "to" && word.ends_with('s') && !word.ends_with("ss")) return PartOfSpeech::kNoun;
  if (kBeforeVerb.Contains(before)) return PartOfSpeech::kVerb;
  if (before == "he" || before == "she" || before == "it" || before == "which") {
    return PartOfSpeech::kVerb;
  }
  if (IsVerbOfPlural(words, at, word, before, after)) return PartOfSpeech::kVerb;
  if (kBeforeNoun.Contains(before) || before.ends_with("'s") || before.ends_with("s'") ||
      IsCardinal(before)) {
    const bool ends_group = after.empty() || kFunctionWords.Contains(after);
    return ends_group ? PartOfSpeech::kNoun : PartOfSpeech::kAdjective;
  }
  if (kObjects.Contains(after)) return word == "wound" ? PartOfSpeech::kPast : PartOfSpeech::kVerb;
  // "Children live in ...", "where we all live together".
  if (before.size() > 3 && kPlaces.Contains(after) &&
      (word == "live" || word == "lives" || (before.ends_with('s') && !word.ends_with('s')))) {
    return PartOfSpeech::kVerb;
  }
  const bool object = before == "me" || before == "him" || before == "them" || before == "us";
  if (object) {
    // "Let me object", "made me content": an infinitive, or an adjective that sounds like one.
    const std::string cause = at > 1 ? AsciiLower(words[at - 2].text) : "";
    return IsOfKind(cause, "causes") ? PartOfSpeech::kVerb : PartOfSpeech::kUnknown;
  }
  // "Associate with them", an order.
  if (before.empty() && word.ends_with("ate") &&
      IsOneOf(after, "against", "between", "for", "from", "on", "with"))
    return PartOfSpeech::kVerb;
  // "Imports of oil", "Convicts escaped".
  if (before.empty() && after == "of") return PartOfSpeech::kNoun;
  if (at == 0 && word.ends_with('s') && !word.ends_with("ss") &&
      (after.empty() || kFunctionWords.Contains(after) || after.ends_with("ed")))
    return PartOfSpeech::kNoun;
  if (before.empty()) return PartOfSpeech::kUnknown;
  // "Prices increase."
  if (before.size() > 3 && before.ends_with('s') && !before.ends_with("ss") &&
      (after.empty() || (kFunctionWords.Contains(after) && after != "of")) &&
      IsOfKind(word, "verb-of-plural"))
    return PartOfSpeech::kVerb;
  return after.empty() || kFunctionWords.Contains(after) ? PartOfSpeech::kNoun
                                                         : PartOfSpeech::kUnknown;
}

}  // namespace millrace::models
