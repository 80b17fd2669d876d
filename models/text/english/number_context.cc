#include "models/text/english/number_context.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/one_of.h"
#include "models/text/english/spoken_code.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

// Returns true if the number and the letter behind it are one of several places: "seats 12A-12C".
bool NamesSeats(std::string_view text, size_t at, std::string_view previous) {
  constexpr size_t kMaxDigits = 4;
  return previous.ends_with('s') && IsOfKind(previous.substr(0, previous.size() - 1), "place") &&
         IsAsciiUpper(ByteAt(text, DigitsEnd(text, at, kMaxDigits)));
}

// Returns true if a hyphen joins the number to letters: "B-52s", "Q7-19X".
bool InCode(std::string_view text, size_t at) {
  if (at < 2 || text[at - 1] != '-') return false;
  size_t begin = at - 1;
  constexpr size_t kMaxCode = 12;
  bool letters = false;
  while (begin > 0 && at - begin < kMaxCode && IsAsciiAlnum(text[begin - 1])) {
    letters = letters || IsAsciiUpper(text[begin - 1]);
    --begin;
  }
  return letters;
}

// Returns true if one of the words names places that have letters: "gate A7, not 7A".
bool SpeaksOfPlaces(std::span<const SpokenWord> words) {
  constexpr size_t kFarthest = 8;
  return std::ranges::any_of(words.last(std::min(words.size(), kFarthest)), [](const auto& word) {
    return IsOfKind(AsciiLower(word.text), "lettered-place");
  });
}

// Returns true if the number is followed by one capital that is no unit there: "45A Elm Road",
// "the 38C", an isotope as "14C", "seat 27D, not 27F".
bool NamesLetter(std::string_view text, size_t at, std::span<const SpokenWord> words,
                 std::string_view previous, const ContextSoFar& so_far) {
  constexpr size_t kMaxDigits = 4;
  const size_t letter = DigitsEnd(text, at, kMaxDigits);
  if (letter == at || !IsAsciiUpper(ByteAt(text, letter)) ||
      IsAsciiAlnum(ByteAt(text, letter + 1))) {
    return false;
  }
  const bool address = ByteAt(text, letter + 1) == ' ' && IsAsciiUpper(ByteAt(text, letter + 2)) &&
                       IsAsciiLower(ByteAt(text, letter + 3)) &&
                       !IsAsciiUpper(ByteAt(text, letter + 4));  // "2M NaOH"
  if (address) return true;
  const bool line = IsOneOf(LettersAt(text, letter + 2), "bus", "flight", "line", "train", "tram");
  if (previous == "the" && (line || !NounFollows(text, letter + 1))) return true;
  const bool labels = so_far.labels || SpeaksOfPlaces(words);
  if (labels && IsOneOf(previous, "and", "but", "for", "from", "not", "or", "than", "to", "use"))
    return true;
  return text[letter] == 'C' &&
         (so_far.isotopes || IsOneOf(LettersAt(text, letter + 2), "dates", "dating", "decay"));
}

// Returns true for the digit of "W1U 3PB", which begins the second half of a postcode.
bool IsWithinPostcode(std::string_view text, size_t at) {
  constexpr size_t kLongest = 4;
  if (at < 3 || text[at - 1] != ' ' || !IsAsciiUpper(ByteAt(text, at + 1)) ||
      !IsAsciiUpper(ByteAt(text, at + 2)) || IsAsciiAlnum(ByteAt(text, at + 3)))
    return false;
  size_t begin = at - 1;
  while (begin > 0 && at - begin <= kLongest &&
         (IsAsciiUpper(text[begin - 1]) || IsAsciiDigit(text[begin - 1])))
    --begin;
  const std::string_view first = text.substr(begin, at - 1 - begin);
  return first.size() > 1 && IsAsciiUpper(first[0]) && std::ranges::any_of(first, IsAsciiDigit);
}

// Returns true for "the card ending in", which the last digits of a number follow.
bool NamesLastDigits(std::span<const SpokenWord> words) {
  if (!IsOneOf(AsciiLower(words[words.size() - 2].text), "end", "ending", "ends")) return false;
  constexpr size_t kFarthest = 6;
  const auto near = words.last(std::min(words.size(), kFarthest));
  return std::ranges::any_of(near, [](const SpokenWord& word) {
    return IsOfKind(AsciiLower(word.text), "numbered-on-card");
  });
}

// Returns true for "your order number is".
bool IsNumberOfName(std::span<const SpokenWord> words) {
  return words.size() > 2 && AsciiLower(words[words.size() - 2].text) == "number" &&
         IsOfKind(AsciiLower(words[words.size() - 3].text), "numbered-by-name");
}

// Returns true for "text JOIN 4C to", which a short number follows.
bool IsSentTo(std::span<const SpokenWord> words) {
  constexpr size_t kFarthest = 5;
  const auto near = words.last(std::min(words.size(), kFarthest));
  for (size_t i = 0; i + 1 < near.size(); ++i) {
    if (IsAsciiUpper(ByteAt(near[i + 1].text, 1)) &&
        IsOfKind(AsciiLower(near[i].text), "sends-keyword"))
      return true;
  }
  return false;
}

// Returns true if "A", "C" or "F" behind the number names a seat or a part rather than amps or
// degrees: "Is 7C free?", "text 12A", "item 6F".
bool IsLetterOfPlace(std::string_view text, size_t at, std::span<const SpokenWord> words,
                     std::string_view previous, const ContextSoFar& so_far) {
  constexpr size_t kMaxDigits = 2;
  const size_t letter = DigitsEnd(text, at, kMaxDigits + 1);
  if (letter == at || letter > at + kMaxDigits || so_far.electric ||
      !IsAmong("ACF", ByteAt(text, letter)) || IsAsciiAlnum(ByteAt(text, letter + 1)) ||
      ByteAt(text, letter + 1) == '/')
    return false;
  const size_t verb = letter + (text.substr(letter + 1).starts_with(" is ") ? 5 : 2);
  const bool starts =
      words.empty() ? verb > letter + 2 : words.size() == 1 && IsOneOf(previous, "are", "is");
  if (starts && IsOfKind(LettersAt(text, verb), "behind-seat")) return true;
  if (IsOfKind(previous, "before-lettered")) return true;
  const std::string before = words.size() > 1 ? AsciiLower(words[words.size() - 2].text) : "";
  if (previous == "to" && IsOfKind(before, "moved")) return true;
  if (previous == "like") return !IsOneOf(before, "feel", "feels");
  return SpeaksOfPlaces(words) ||
         (text[letter] == 'A' && previous == "in" && !NounFollows(text, letter + 1));
}

}  // namespace

bool IsArticle(std::string_view written, bool adjacent) {
  const std::string word = AsciiLower(written);
  if (word == "a" || word == "an" || word == "another" || word == "every") return true;
  return adjacent && IsOfKind(word, "article-adjacent");
}

NumberContext FindNumberContext(std::string_view text, size_t at, std::span<const SpokenWord> words,
                                const std::string& previous, bool joined,
                                const ContextSoFar& so_far) {
  NumberContext context{.previous = previous};
  context.label = (at > 0 && !joined && IsAsciiLetter(text[at - 1])) ||
                  IsOfKind(previous, "place") || IsWithinPostcode(text, at) ||
                  NamesSeats(text, at, previous) || InCode(text, at) ||
                  NamesLetter(text, at, words, previous, so_far) ||
                  IsLetterOfPlace(text, at, words, previous, so_far);
  // "10W-40 oil".
  const size_t letter = DigitsEnd(text, at, 3);
  // "32W x 34L" and "34W by 32L" are sizes of trousers.
  if ((text.substr(letter, 2) == "W-" && IsAsciiDigit(ByteAt(text, letter + 2))) ||
      text.substr(letter).starts_with("W x ") || EndsWithOne(text.substr(0, at), "W x |W by "))
    context.label = true;
  // "My flat is 4C".
  if (words.size() > 1 && IsOneOf(previous, "are", "is", "was", "were") &&
      IsOfKind(AsciiLower(words[words.size() - 2].text), "seat"))
    context.label = true;
  // "Text JOIN 4C to 777".
  if (words.size() > 1 && words.back().text.size() > 1 && IsAsciiUpper(words.back().text[1]) &&
      IsOfKind(AsciiLower(words[words.size() - 2].text), "sends-keyword"))
    context.label = true;
  // "I sat in 14F".
  if (words.size() > 1 && previous == "in" &&
      IsOfKind(AsciiLower(words[words.size() - 2].text), "seated"))
    context.label = true;
  constexpr size_t kFarthest = 3;
  size_t steps = 0;
  for (size_t i = words.size(); i-- > 0 && steps < kFarthest; ++steps) {
    const std::string& after = words[i].after;
    if (after.find_first_of(",.;:!?") != std::string::npos) break;
    if (IsArticle(words[i].text, steps == 0)) context.article = true;
  }
  // "12 x 50g balls", "a 2.3 x 1.8 cm mass".
  if (at > 3 && text.substr(at - 3, 3) == " x ") {
    const std::string_view first = text.substr(0, text.find_last_of(' ', at - 4) + 1);
    if (IsAsciiLetter(ByteAt(text, DigitsEnd(text, at, 5))) ||
        EndsWithOne(first, " a | an |A |An "))
      context.article = true;
  }
  // "24h service" begins a heading.
  if (words.empty() && ByteAt(text, DigitsEnd(text, at, 3)) == 'h') context.article = true;
  context.telephone = so_far.calling;
  context.electric = so_far.electric;
  context.versions = so_far.versions;
  context.code = words.size() > 1 && (((previous == "is" || previous == "was") &&
                                       NamesCode(AsciiLower(words[words.size() - 2].text))) ||
                                      (previous == "is" && IsNumberOfName(words)) ||
                                      (previous == "to" && IsSentTo(words)) ||
                                      (previous == "in" && NamesLastDigits(words)));
  return context;
}

}  // namespace millrace::models
