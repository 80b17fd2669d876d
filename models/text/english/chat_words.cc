#include "models/text/english/chat_words.h"

#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/amount.h"
#include "models/text/english/chat_letters_text.h"
#include "models/text/english/chat_words_text.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

// Returns how a word is spoken; empty if it is none.
std::string_view FindChatWord(std::string_view word) {
  static const WordTable<2> words(kChatWordsText);
  const auto* const row = words.Find(word);
  return row == nullptr ? std::string_view() : row->back();
}

// Returns the word with at most `most` equal letters in a row where three or more are: "hellooo"
// keeps its double l.
std::string Shortened(std::string_view word, size_t most) {
  std::string text;
  for (size_t begin = 0, end = 0; begin < word.size(); begin = end) {
    while (end < word.size() && AsciiLower(word[end]) == AsciiLower(word[begin])) ++end;
    text += word.substr(begin, end - begin > 2 ? std::min(most, end - begin) : end - begin);
  }
  return text;
}

// Returns true if a letter stands there three times in a row.
bool IsDrawnOut(std::string_view word) {
  for (size_t i = 2; i < word.size(); ++i) {
    const char c = AsciiLower(word[i]);
    if (IsAsciiLower(c) && c == AsciiLower(word[i - 1]) && c == AsciiLower(word[i - 2]))
      return true;
  }
  return false;
}

// Returns the word behind the space at `at`, in lower case.
std::string WordBehind(std::string_view text, size_t at) {
  return ByteAt(text, at) == ' ' ? AsciiLower(LettersAt(text, at + 1)) : "";
}

// Returns true if a word, which may be empty, is one that the field of the table has: "$" is none,
// and an empty field has all.
bool IsNeighbour(std::string_view word, std::string_view field) {
  const bool denied = field.starts_with('!');
  return field.empty() ||
         IsListed(word.empty() ? "$" : word, field.substr(denied ? 1 : 0)) != denied;
}

}  // namespace

std::optional<Reading> ReadChatLetter(std::string_view text, size_t begin, size_t end,
                                      std::string_view previous) {
  // "Where r = 5".
  if ((begin > 0 && text[begin - 1] != ' ') || text.substr(end, 2) == " =") return std::nullopt;
  static const WordTable<4> letters(kChatLettersText);
  for (const auto& [word, spoken, before, behind] :
       letters.FindAll(text.substr(begin, end - begin))) {
    if (IsNeighbour(previous, before) && IsNeighbour(WordBehind(text, end), behind))
      return Reading{end, {std::string(spoken)}};
  }
  return std::nullopt;
}

// Reads "BID" and the like behind a dose.
std::optional<Reading> ReadTimesOfDay(std::string_view text, size_t at, std::string_view previous) {
  const std::string_view word = LettersAt(text, at, 4);
  const auto times = FindSpoken(word, "times-of-day");
  if (!times || !IsOfKind(previous, "dose") || IsAsciiAlnum(ByteAt(text, at + word.size())))
    return std::nullopt;
  return ReadAs(at + word.size(), *times);
}

std::optional<Reading> ReadDosing(const NumberWords& numbers, std::string_view text, size_t at,
                                  std::string_view previous) {
  if (IsAsciiUpper(text[at])) return ReadTimesOfDay(text, at, previous);
  if (text[at] != 'q' && text[at] != 'x') return std::nullopt;
  if (text[at] == 'x') {
    const size_t begin = at + (ByteAt(text, at + 1) == ' ' ? 2 : 1);
    const size_t end = DigitsEnd(text, begin, 3);
    if (end == begin) return std::nullopt;
    if (IsOfKind(LettersAt(text, end + 1), "treatment-time")) return Reading{begin, {"for"}};
    // "X 10d".
    if (ByteAt(text, end) == 'd' && !IsAsciiAlnum(ByteAt(text, end + 1))) {
      const uint64_t days = ParseDigits(text.substr(begin, end - begin));
      Reading reading{end + 1, {"for"}};
      reading.Append(numbers.Cardinal(days));
      reading.Append(days == 1 ? "day" : "days");
      return reading;
    }
    // "Bread x2", but not the variable of "where x2 is".
    const bool counts =
        begin == at + 1 && !IsAsciiAlnum(ByteAt(text, end)) && at > 1 &&
        IsAsciiLower(text[at - 2]) && previous.size() > 1 &&
        !IsOneOf(previous, "add", "and", "for", "if", "is", "let", "of", "or", "plus", "where") &&
        !text.substr(end).starts_with(" =") && !text.substr(end).starts_with(" is");
    return counts ? std::optional(Reading{begin, {"times"}}) : std::nullopt;
  }
  const size_t first = DigitsEnd(text.substr(0, at + 3), at + 1);
  const size_t dash = RangeDashBytes(text, first);
  const size_t end = dash == 0 ? first : DigitsEnd(text, first + dash, 2);
  if (first == at + 1 || ByteAt(text, end) != 'h' || IsAsciiAlnum(ByteAt(text, end + 1)))
    return std::nullopt;
  Reading reading{end + 1, {"every"}};
  reading.Append(numbers.Cardinal(ParseDigits(text.substr(at + 1, first - at - 1))));
  if (dash > 0) {
    reading.Append("to");
    reading.Append(numbers.Cardinal(ParseDigits(text.substr(first + dash, end - first - dash))));
  }
  reading.Append("hours");
  return reading;
}

bool StandsForToo(std::string_view text, size_t at, std::string_view previous, bool chat) {
  const std::string_view behind = text.substr(at + 1);
  if (IsOneOf(previous, "u", "you"))
    return chat && !IsAsciiAlnum(ByteAt(behind, 0)) && !IsAsciiAlnum(ByteAt(behind, 1));
  if (previous == "me") {
    // "Me 2!", "hey, me 2", but "give me 2".
    const std::string_view before = text.substr(0, at);
    const bool starts =
        IsOneOf(before, "Me ", "me ") || EndsWithOne(before, ", me |! me |. me |. Me ");
    return (chat || starts) && (behind.empty() || IsAmong(".!?,", behind[0]));
  }
  return IsOneOf(previous, "is", "it's", "so", "that's", "was", "way", "your") &&
         IsOfKind(LettersAt(behind, 1), "too-much");
}

size_t ChatWordEnd(std::string_view text, size_t at) {
  constexpr size_t kMaxChatBytes = 7;
  size_t end = at;
  while (end - at <= kMaxChatBytes && IsAsciiAlnum(ByteAt(text, end))) ++end;
  return end;
}

std::optional<Reading> ReadChatWord(std::string_view word, size_t end) {
  const bool drawn = IsDrawnOut(word) && word != "www" &&
                     word.substr(0, word.size() - 1).find_first_not_of("IVXLCDM") != word.npos;
  std::string lower = AsciiLower(word);
  // "AAAA batteries", "the BBB": one capital several times is no cry, except for "ZZZ".
  if (drawn && word.size() < 5 && word[0] != 'Z' && Shortened(word, 1).size() == 1 && word != lower)
    return std::nullopt;
  if (drawn && !FindChatWord(lower).empty()) {
    // "IEEE" is written with three letters that are the same.
  } else if (drawn) {
    const std::string twice = Shortened(lower, 2);
    lower = IsOfKind(twice, "double-vowel") || !FindChatWord(twice).empty() ? twice
                                                                            : Shortened(lower, 1);
  } else if (word != lower &&
             (word != AsciiCapitalised(word) || IsOfKind(lower, "name-in-capital")) &&
             !IsOfKind(lower, "chat-in-capitals")) {
    return std::nullopt;
  }
  if (const std::string_view known = FindChatWord(lower); !known.empty()) return ReadAs(end, known);
  if (!drawn || lower.size() < 2) return std::nullopt;
  return Reading{end, {lower}};
}

}  // namespace millrace::models
