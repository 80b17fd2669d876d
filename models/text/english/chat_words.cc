#include "models/text/english/chat_words.h"

#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
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
  return IsOneOf(lower, "b4", "bf", "gf", "gn", "np", "rn", "ty", "ur");
}

// Returns true for abbreviations of phrases that are written in capitals, too.
bool IsWrittenInCapitals(std::string_view lower) {
  return IsOneOf(lower, "afaik", "brb", "btw", "fwiw", "icymi", "idk", "iirc", "imho", "iykyk",
                 "tbh", "ttyl", "tysm");
}

// Returns the word with at most `most` equal letters in a row.
std::string Shortened(std::string_view word, size_t most) {
  std::string text;
  size_t run = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    run = i > 0 && AsciiLower(word[i]) == AsciiLower(word[i - 1]) ? run + 1 : 1;
    if (run <= most) text += word[i];
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
  constexpr size_t kMaxWordBytes = 10;
  if (ByteAt(text, at) != ' ') return {};
  const size_t begin = at + 1;
  return AsciiLower(
      text.substr(begin, LettersEnd(text.substr(0, begin + kMaxWordBytes), begin) - begin));
}

}  // namespace

std::optional<Reading> ReadChatLetter(std::string_view text, size_t begin, size_t end,
                                      std::string_view previous) {
  if (begin > 0 && text[begin - 1] != ' ') return std::nullopt;
  if (text.substr(begin, end - begin) == "ur" &&
      IsOneOf(WordBehind(text, end), "a", "an", "gonna", "my", "not", "right", "so", "such", "the",
              "too", "very", "welcome", "wrong"))
    return Reading{end, {"you're"}};
  if (end != begin + 1) return std::nullopt;
  const std::string next = WordBehind(text, end);
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
      if (IsOneOf(previous, "how", "there", "these", "they", "those", "we", "what", "where", "who",
                  "why", "you") ||
          IsOneOf(next, "u", "we", "you"))
        return Reading{end, {"are"}};
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

size_t ChatWordEnd(std::string_view text, size_t at) {
  constexpr size_t kMaxChatBytes = 7;
  size_t end = at;
  while (end - at <= kMaxChatBytes && IsAsciiAlnum(ByteAt(text, end))) ++end;
  return end;
}

std::optional<Reading> ReadChatWord(std::string_view word, size_t end) {
  const bool drawn = IsDrawnOut(word) && word != "WWW" && word != "www" && word != "AAA" &&
                     word.find_first_not_of("IVXLCDM") != std::string_view::npos;
  std::string lower = AsciiLower(word);
  if (drawn) {
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
