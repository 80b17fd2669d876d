#include "models/text/english/attributive.h"

#include <algorithm>
#include <array>
#include <string>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxBracketBytes = 24;
constexpr size_t kMaxNounBytes = 32;

// Words that may follow an amount which stands for itself. Sorted by bytes.
constexpr std::array<std::string_view, 66> kNoNouns = {
    "above",     "after", "ago",     "ahead",  "all",    "and",   "apart", "are",  "as",
    "at",        "away",  "back",    "before", "behind", "below", "but",   "by",   "down",
    "during",    "each",  "earlier", "every",  "extra",  "for",   "from",  "had",  "has",
    "have",      "if",    "in",      "into",   "is",     "later", "left",  "less", "more",
    "now",       "of",    "off",     "on",     "only",   "or",    "out",   "over", "per",
    "remaining", "she",   "since",   "so",     "than",   "that",  "then",  "they", "to",
    "today",     "total", "under",   "until",  "up",     "was",   "were",  "when", "which",
    "while",     "will",  "with"};
static_assert(std::ranges::is_sorted(kNoNouns));

std::string WordBehindSpace(std::string_view text, size_t at) {
  if (ByteAt(text, at) != ' ') return {};
  return std::string(
      text.substr(at + 1, LettersEnd(text.substr(0, at + kMaxNounBytes), at + 1) - at - 1));
}

}  // namespace

bool NounFollows(std::string_view text, size_t at) {
  if (ByteAt(text, at) == ')') ++at;
  if (ByteAt(text, at) == ' ' && ByteAt(text, at + 1) == '(') {
    const size_t close = text.substr(0, at + kMaxBracketBytes).find(')', at);
    if (close == std::string_view::npos) return false;
    at = close + 1;
  }
  const std::string word = WordBehindSpace(text, at);
  if (word.size() == 2 && IsAsciiUpper(word[0]) && IsAsciiUpper(word[1])) return true;  // "TV"
  return word.size() >= 3 && !std::ranges::binary_search(kNoNouns, std::string_view(word));
}

bool CashFollows(std::string_view text, size_t at) {
  return IsOneOf(WordBehindSpace(text, at), "bill", "bills", "coin", "coins", "note", "notes");
}

bool PluralFollows(std::string_view text, size_t at) {
  const std::string word = WordBehindSpace(text, at);
  if (word.size() < 4 || !IsAsciiLower(word[0])) return false;
  if (word == "people" || word == "children") return true;
  return word.ends_with('s') && !word.ends_with("ss") &&
         !IsOneOf(word, "always", "does", "hours", "has", "is", "its", "less", "pass", "plus",
                  "this", "was");
}

bool PrecedesYear(std::string_view word) {
  return IsOneOf(word, "after", "around", "before", "by", "circa", "during", "early", "fall",
                 "from", "in", "late", "mid", "of", "since", "spring", "summer", "the", "till",
                 "to", "until", "winter", "year");
}

bool RatesBehind(std::string_view text, size_t at) {
  const std::string word = WordBehindSpace(text, at);
  return IsOneOf(word, "marks", "people", "points", "rating", "score", "stars", "students",
                 "votes");
}

}  // namespace millrace::models
