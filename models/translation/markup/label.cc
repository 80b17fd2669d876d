#include "models/translation/markup/label.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/translation/markup/numeric_text.h"

namespace millrace::translation {
namespace {

// Returns true if a part of a text has nothing to translate: numbers, kept spans, or one word that
// no language has.
bool IsWordless(const MarkedText& marked, size_t begin, size_t end) {
  std::string part = marked.text.substr(begin, end - begin);
  bool has_kept = false;
  for (const KeptSpan& kept : marked.kept) {
    if (kept.reads || kept.end <= begin || kept.begin >= end) continue;
    if (kept.begin < begin || kept.end > end) return false;
    std::fill_n(part.begin() + static_cast<std::ptrdiff_t>(kept.begin - begin),
                kept.end - kept.begin, ' ');
    has_kept = true;
  }
  const std::string_view word = models::Trim(part);
  if (word.empty()) return has_kept;
  bool has_letter = false;
  bool has_capital_inside = false;
  bool has_digit = false;
  size_t small_run = 0;
  size_t longest_small_run = 0;
  bool has_stop_inside = false;
  char32_t before = 0;
  for (const char32_t c : models::DecodeUtf8(word)) {
    if (c >= 0x3040) return false;
    const bool is_digit = models::IsDigit(c);
    has_digit = has_digit || is_digit;
    has_letter = has_letter || (models::IsWordCharacter(c) && !is_digit);
    small_run = models::IsLower(c) ? small_run + 1 : 0;
    longest_small_run = std::max(longest_small_run, small_run);
    has_capital_inside = has_capital_inside || (models::IsUpper(c) && models::IsLower(before));
    has_stop_inside = has_stop_inside || (before == '.' && models::IsWordCharacter(c));
    before = c;
  }
  if (!has_letter || IsNumericText(word)) return has_digit || has_kept;
  if (word.find(' ') != std::string_view::npos || word.size() < 2) return false;
  constexpr size_t kWord = 3;  // the letters of a word, as in 2-day
  return (has_digit && longest_small_run < kWord) || has_capital_inside || has_stop_inside;
}

// Returns true for signs beyond ASCII alone, such as an emoji, and for an entity, such as &lt;.
bool IsPicture(std::string_view text) {
  if (text.starts_with('&') && text.ends_with(';')) return true;
  for (const char32_t c : models::DecodeUtf8(text)) {
    if (c < 0x2000 || models::IsWordCharacter(c) || models::IsLetter(c)) return false;
  }
  return !text.empty();
}

// Returns true for one word of capitals, such as HDMI, which a model may still translate.
bool IsAcronym(std::string_view word) {
  bool has_capital = false;
  for (const char32_t c : models::DecodeUtf8(word)) {
    if (models::IsLower(c) || models::IsSpace(c)) return false;
    has_capital = has_capital || models::IsUpper(c);
  }
  return has_capital;
}

bool HasLower(std::string_view text) {
  return std::ranges::any_of(models::DecodeUtf8(text), models::IsLower);
}

// Returns the end of the key of a setting whose value has words: "title=The old house"; 0 if there
// is none.
size_t KeyEnd(std::string_view text) {
  constexpr std::string_view kOthers = "_.-";
  const auto is_part = [&](char c) {
    return models::IsAsciiAlnum(c) || kOthers.find(c) != std::string_view::npos;
  };
  size_t end = 0;
  while (end < text.size() && is_part(text[end])) ++end;
  const bool has_value = models::ByteAt(text, end) == '=' &&
                         models::IsLetter(models::DecodeAt(text, end + 1).value) &&
                         text.find(' ', end) != std::string_view::npos;
  return has_value && models::IsAsciiLetter(text[0]) ? end + 1 : 0;
}

// Returns where the first colon of a text is if it stands between a label and the words or numbers
// that are all of the rest without a space: "Note:this", "Time:12:30"; 0 if there is none.
size_t TouchingColon(std::string_view text) {
  constexpr std::ptrdiff_t kMostSpaces = 1;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return 0;
  const std::string_view rest = text.substr(colon + 1);
  const bool is_number = IsNumericText(rest);
  if ((!is_number && rest.find(':') != rest.npos) ||
      !models::IsUpper(models::DecodeAt(text, 0).value) ||
      !models::IsLower(models::DecodeBefore(text, colon).value) ||
      (!is_number && !models::IsLetter(models::DecodeAt(rest, 0).value)) ||
      std::ranges::count(text.substr(0, colon), ' ') > kMostSpaces)
    return 0;
  return colon;
}

}  // namespace

bool IsWordless(const MarkedText& marked) {
  return KeyEnd(marked.text + "a ") == marked.text.size() ||
         IsWordless(marked, 0, marked.text.size());
}

size_t LabelEnd(const MarkedText& marked) {
  constexpr size_t kLongest = 400;
  constexpr size_t kMostSpaces = 2;
  const std::string_view text = marked.text;
  if (text.size() > kLongest) return 0;
  const auto is_within = [&](size_t at) {
    const auto holds = [at](const auto& span) { return span.begin < at && at < span.end; };
    size_t open = 0;
    for (const MarkEvent& event : marked.events) {
      if (event.at > at) return true;
      if (event.kind == MarkEvent::Kind::kOpen) ++open;
      if (event.kind == MarkEvent::Kind::kClose) --open;
    }
    return open > 0 || std::ranges::any_of(marked.kept, holds);
  };
  if (const size_t key = KeyEnd(text); key > 0 && !is_within(key)) return key;
  // A picture before a label: "⚙ Settings"
  if (!marked.kept.empty() && marked.kept[0].begin == 0 && !marked.kept[0].reads &&
      IsPicture(text.substr(0, marked.kept[0].end)) &&
      models::ByteAt(text, marked.kept[0].end) == ' ' && !is_within(marked.kept[0].end) &&
      models::IsLetter(models::DecodeAt(text, marked.kept[0].end + 1).value))
    return marked.kept[0].end;
  if (const size_t colon = text.rfind(": ");
      colon != std::string_view::npos && colon > 0 && !is_within(colon + 1) &&
      (IsWordless(marked, colon + 1, text.size()) ||
       (IsAcronym(models::Trim(text.substr(colon + 1))) && HasLower(text.substr(0, colon)))))
    return colon + 1;
  if (const size_t colon = TouchingColon(text); colon > 0 && !is_within(colon)) return colon + 1;
  if (const size_t dash = text.find(" - ");
      dash != std::string_view::npos && IsNumericText(text.substr(0, dash)) && !is_within(dash + 2))
    return dash + 2;
  // A count or keys behind a label: "Inbox (3)", "New (Ctrl+N)"
  if (const size_t open = text.rfind(" (");
      open != std::string_view::npos && open > 0 && text.ends_with(')') && !is_within(open) &&
      std::ranges::count(text.substr(0, open), ' ') <= static_cast<std::ptrdiff_t>(kMostSpaces) &&
      (IsNumericText(text.substr(open + 2, text.size() - open - 3)) ||
       IsWordless(marked, open + 1, text.size())))
    return open;
  const size_t first = std::min(text.find(": "), text.find('/'));
  if (first != std::string_view::npos && first > 0 && !is_within(first + 1) &&
      IsWordless(marked, 0, first)) {
    if (text[first] == ':') return first + 1;
    // A sum for each of something: "$5/month", "{price}/month"
    if (!text.ends_with('/') && models::IsLetter(models::DecodeBefore(text, text.size()).value) &&
        text.find_first_of(" /0123456789", first + 1) == std::string_view::npos)
      return first + 1;
  }
  // A picture at the end, or several: "Good night 🌙"
  if (const KeptSpan* const last = marked.kept.empty() ? nullptr : &marked.kept.back();
      last != nullptr && last->end == text.size() && !last->reads && last->begin > 1 &&
      IsPicture(text.substr(last->begin)) && text[last->begin - 1] == ' ' &&
      !is_within(last->begin - 1))
    return last->begin - 1;
  // A name behind a greeting.
  const size_t comma = text.find(", ");
  if (comma == std::string_view::npos || comma == 0 || is_within(comma) ||
      marked.kept.size() != 1 || marked.kept[0].begin != comma + 2 || marked.kept[0].reads)
    return 0;
  const std::string_view marks = text.substr(marked.kept[0].end);
  const bool greets =
      static_cast<size_t>(std::ranges::count(text.substr(0, comma), ' ')) <= kMostSpaces;
  return greets && marks.find_first_not_of(".!") == std::string_view::npos ? comma : 0;
}

}  // namespace millrace::translation
