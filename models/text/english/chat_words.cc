#include "models/text/english/chat_words.h"

#include <array>
#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/amount.h"
#include "models/text/english/chat_words_text.h"
#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

// Returns how a word is spoken; empty if it is none.
std::string_view FindChatWord(std::string_view word) {
  static const WordTable<2> words(kChatWordsText);
  const auto* const row = words.Find(word);
  return row == nullptr ? std::string_view() : row->back();
}

// Words that have a double vowel before it is drawn out: "coool".
bool HasDoubleVowel(std::string_view word) {
  return IsOneOf(word, "been", "boo", "cool", "feel", "food", "fool", "freedom", "good", "keep",
                 "need", "room", "see", "soon", "sweet", "too");
}

// Returns true for words that are names when they begin with a capital: "Ty", "B4".
bool IsNameInCapital(std::string_view lower) {
  return IsOneOf(lower, "b4", "bf", "cu", "ez", "gf", "gn", "im", "ima", "lil", "m8", "nite", "np",
                 "ofc", "rn", "tho", "ty", "u2", "ur");
}

// Returns true for abbreviations of phrases that are written in capitals, too.
bool IsWrittenInCapitals(std::string_view lower) {
  return IsOneOf(lower, "afaik", "brb", "btw", "fwiw", "hmu", "icymi", "idk", "iirc", "imho",
                 "iykyk", "tbf", "tbh", "ttyl", "tysm");
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

}  // namespace

std::optional<Reading> ReadChatLetter(std::string_view text, size_t begin, size_t end,
                                      std::string_view previous) {
  // "Where r = 5".
  if ((begin > 0 && text[begin - 1] != ' ') || text.substr(end, 2) == " =") return std::nullopt;
  const std::string_view word = text.substr(begin, end - begin);
  if (word.size() > 1 && !IsOneOf(word, "id", "ill", "ur")) return std::nullopt;
  const std::string next = WordBehind(text, end);
  if (word == "ur" &&
      IsOneOf(next, "a", "amazing", "an", "awesome", "beautiful", "being", "coming", "crazy",
              "cute", "doing", "funny", "getting", "going", "gonna", "joking", "kidding", "making",
              "thinking", "gr", "great", "here", "late", "lucky", "my", "not", "right", "so",
              "such", "the", "too", "very", "welcome", "wrong"))
    return Reading{end, {"you're"}};
  // "ill be there", "id love that".
  if (word == "ill" &&
      !IsOneOf(previous, "am", "are", "be", "became", "been", "fall", "fallen", "fell", "felt",
               "get", "got", "is", "mentally", "taken", "the", "very", "was", "were") &&
      IsOneOf(next, "be", "bring", "call", "check", "come", "do", "get", "go", "have", "help",
              "just", "let", "make", "meet", "never", "pay", "pick", "probably", "see", "send",
              "take", "tell", "text", "try", "wait"))
    return Reading{end, {"I'll"}};
  if (word == "id" &&
      IsOneOf(next, "be", "have", "like", "love", "never", "prefer", "rather", "say"))
    return Reading{end, {"I'd"}};
  if (word.size() != 1) return std::nullopt;
  switch (text[begin]) {
    case 'u':
      if (IsOneOf(previous, "and", "are", "before", "call", "can", "did", "do", "for", "have",
                  "hope", "if", "love", "miss", "r", "see", "tell", "text", "thank", "told", "will",
                  "with") ||
          IsOneOf(next, "all", "are", "can", "coming", "did", "doing", "free", "going", "got",
                  "guys", "have", "know", "later", "like", "need", "ok", "r", "said", "should",
                  "there", "think", "too", "up", "want", "were", "will"))
        return Reading{end, {"you"}};
      return std::nullopt;
    case 'r':
      if (IsOneOf(previous, "guys", "how", "kids", "people", "there", "these", "they", "those",
                  "we", "what", "where", "who", "why", "you") ||
          IsOneOf(next, "u", "we", "you"))
        return Reading{end, {"are"}};
      return std::nullopt;
    case 'b':
      if (IsOneOf(next, "back", "careful", "good", "here", "l", "late", "nice", "ok", "okay",
                  "ready", "right", "safe", "there") &&
          (previous.empty() ||
           IsOneOf(previous, "gonna", "gotta", "i'll", "ill", "to", "u", "wanna", "will", "you")))
        return Reading{end, {"be"}};
      return std::nullopt;
    case 'c':
      if (next == "u" || next == "ya") return Reading{end, {"see"}};
      return std::nullopt;
    case 'k':
      if (previous.empty() && IsOneOf(next, "bye", "cool", "thanks", "then", "thx"))
        return Reading{end, {"okay"}};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Reads "BID" and the like behind a dose.
std::optional<Reading> ReadTimesOfDay(std::string_view text, size_t at, std::string_view previous) {
  struct Times {
    std::string_view written;
    std::string_view spoken;
  };
  constexpr std::array<Times, 5> kTimes = {{{"BID", "twice a day"},
                                            {"PRN", "as needed"},
                                            {"QHS", "at bedtime"},
                                            {"QID", "four times a day"},
                                            {"TID", "three times a day"}}};
  const std::string_view word = LettersAt(text, at, 4);
  for (const Times& times : kTimes) {
    if (word != times.written || IsAsciiAlnum(ByteAt(text, at + word.size()))) continue;
    if (!IsOneOf(previous, "capsule", "capsules", "daily", "day", "drop", "drops", "hours",
                 "micrograms", "milligram", "milligrams", "milliliter", "milliliters", "mouth",
                 "orally", "po", "puff", "puffs", "tab", "tablet", "tablets", "tabs", "unit",
                 "units"))
      break;
    Reading reading{at + word.size(), {}};
    reading.AppendEach(times.spoken);
    return reading;
  }
  return std::nullopt;
}

std::optional<Reading> ReadDosing(const NumberWords& numbers, std::string_view text, size_t at,
                                  std::string_view previous) {
  if (IsAsciiUpper(text[at])) return ReadTimesOfDay(text, at, previous);
  if (text[at] != 'q' && text[at] != 'x') return std::nullopt;
  if (text[at] == 'x') {
    const size_t begin = at + (ByteAt(text, at + 1) == ' ' ? 2 : 1);
    const size_t end = DigitsEnd(text.substr(0, begin + 3), begin);
    if (end == begin) return std::nullopt;
    if (IsOneOf(LettersAt(text, end + 1), "d", "day", "days", "hours", "hrs", "months", "week",
                "weeks", "wks"))
      return Reading{begin, {"for"}};
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
  const size_t end = dash == 0 ? first : DigitsEnd(text.substr(0, first + dash + 2), first + dash);
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
    lower = HasDoubleVowel(twice) || !FindChatWord(twice).empty() ? twice : Shortened(lower, 1);
  } else if (word != lower && (word != AsciiCapitalised(word) || IsNameInCapital(lower)) &&
             !IsWrittenInCapitals(lower)) {
    return std::nullopt;
  }
  Reading reading{end, {}};
  if (const std::string_view known = FindChatWord(lower); !known.empty()) {
    reading.AppendEach(known);
    return reading;
  }
  if (!drawn || lower.size() < 2) return std::nullopt;
  reading.Append(lower);
  return reading;
}

}  // namespace millrace::models
