#include "models/translation/clause_cut.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "models/text/sign_names.h"
#include "models/text/unicode.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

// How well a sentence can be divided at a place.
constexpr double kStrongMark = 3;  // ; : and dashes
constexpr double kCommaAndConjunction = 2.6;
constexpr double kComma = 2;
constexpr double kConjunction = 1.8;
constexpr double kWeakConjunction = 1.2;
constexpr double kWithinBrackets = 1.5;  // is taken off

// Returns the word that begins at `at`.
std::string_view WordAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && models::IsWordCharacter(models::DecodeAt(text, end).value))
    end += models::DecodeAt(text, end).bytes;
  return text.substr(at, end - at);
}

// Returns how well a sentence can be divided before a word of a language, its first subtag.
double StrengthOfWord(std::string_view word, const std::string& language) {
  if (IsListed("conjunctions " + language, word)) return kConjunction;
  return IsListed("weak conjunctions " + language, word) ? kWeakConjunction : 0;
}

double StrengthOfMark(char32_t c) {
  if (models::IsAmong(U";:–—；：!?", c)) return kStrongMark;
  return models::IsAmong(U",،、，", c) ? kComma : 0;
}

bool IsWideMark(char32_t c) { return c >= 0x3000; }

}  // namespace

size_t FindClauseCut(std::string_view text, size_t least, size_t most, std::string_view language) {
  const std::string tag = PrimarySubtag(language);
  const double middle = static_cast<double>(least + most) / 2;
  const double radius = std::max(static_cast<double>(most - least) / 2, 1.0);
  most = std::min(most, text.size());
  size_t best = 0;
  double best_score = 0;
  int brackets = 0;
  double mark = 0;  // strength of the mark before the white space before `at`
  bool spaced = false;
  for (size_t at = 0; at < most;) {
    const models::CodePoint c = models::DecodeAt(text, at);
    if (models::IsSpace(c.value)) {
      spaced = true;
      at += c.bytes;
      continue;
    }
    if (at > least && at < text.size() && (spaced || mark < 0)) {
      double strength = std::abs(mark);
      const double word = spaced ? StrengthOfWord(WordAt(text, at), tag) : 0;
      if (strength == kComma && word > 0) strength = kCommaAndConjunction;
      strength = std::max(strength, word);
      if (brackets > 0) strength -= kWithinBrackets;
      const double score = strength - std::abs(static_cast<double>(at) - middle) / radius;
      if (strength > 0 && (best == 0 || score > best_score)) {
        best = at;
        best_score = score;
      }
    }
    if (c.value == '(' || c.value == '[') ++brackets;
    if ((c.value == ')' || c.value == ']') && brackets > 0) --brackets;
    mark = StrengthOfMark(c.value);
    if (IsWideMark(c.value)) mark = -mark;  // no space follows it
    spaced = false;
    at += c.bytes;
  }
  return best;
}

size_t FindWordCut(std::string_view text, size_t least, size_t most) {
  const size_t middle = (least + most) / 2;
  size_t best = 0;
  size_t nearest = text.size();
  bool spaced = false;
  for (size_t at = 0; at < std::min(most, text.size());) {
    const models::CodePoint c = models::DecodeAt(text, at);
    const bool space = models::IsSpace(c.value);
    if (!space && spaced && at > least) {
      const size_t distance = at < middle ? middle - at : at - middle;
      if (best == 0 || distance < nearest) {
        best = at;
        nearest = distance;
      }
    }
    spaced = space;
    at += c.bytes;
  }
  return best;
}

std::vector<std::string_view> PartsBetweenJoints(std::string_view text, std::string_view language) {
  const std::string joints = "joints " + PrimarySubtag(language);
  if (!HasList(joints)) return {};
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t space = text.find(' '); space != std::string_view::npos;) {
    // Two joints may share the space between them.
    const size_t end = text.find(' ', space + 1);
    if (end != std::string_view::npos &&
        IsListed(joints, text.substr(space + 1, end - space - 1))) {
      parts.push_back(text.substr(begin, std::max(begin, space) - begin));
      begin = end + 1;
    }
    space = end;
  }
  parts.push_back(text.substr(std::min(begin, text.size())));
  return parts;
}

bool BeginsWithConjunction(std::string_view text, std::string_view language) {
  return StrengthOfWord(WordAt(text, 0), PrimarySubtag(language)) > 0;
}

}  // namespace millrace::translation
