#include "models/translation/markup/numeric_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/translation/markup/number_repair.h"
#include "models/translation/markup/ordinals.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

// Returns true if the text around a number shows that it is a sum or a percentage.
bool IsSum(std::string_view text, const WrittenNumber& number) {
  constexpr std::string_view kSigns = "$%";
  const size_t behind = std::min(text.find_first_not_of(' ', number.end), text.size());
  if (kSigns.find(models::ByteAt(text, behind)) != std::string_view::npos && behind < text.size())
    return true;
  const size_t code = models::LettersEnd(text, behind);
  if (code > behind && IsListed("currencies", text.substr(behind, code - behind))) return true;
  size_t before = number.begin;
  while (before > 0 && models::IsSpace(models::DecodeBefore(text, before).value))
    before -= models::DecodeBefore(text, before).bytes;
  if (before == 0) return false;
  if (text[before - 1] == '$') return true;
  size_t begin = before;
  while (begin > 0 && models::IsAsciiLetter(text[begin - 1])) --begin;
  return begin < before && IsListed("currencies", text.substr(begin, before - begin));
}

}  // namespace

bool IsNumericText(std::string_view text) {
  bool has_digit = false;
  for (size_t at = 0; at < text.size();) {
    if (models::IsAsciiLetter(text[at])) {
      const size_t end = models::LettersEnd(text, at);
      const std::string_view letters = text.substr(at, end - at);
      if (!IsListed("currencies", letters) && !IsListed("parts of times", letters)) return false;
      at = end;
      continue;
    }
    const models::CodePoint c = models::DecodeAt(text, at);
    if (models::IsDigit(c.value)) {
      has_digit = true;
      at = OrdinalSignEnd(text, at + c.bytes);
      continue;
    }
    if (models::IsWordCharacter(c.value) || models::IsLetter(c.value)) return false;
    at += c.bytes;
  }
  return has_digit;
}

void ConvertNumbers(MarkedText& marked, const NumberFormats& formats) {
  std::string& text = marked.text;
  const bool may_grow = marked.events.empty() && marked.kept.empty() && marked.spellings.empty();
  if (may_grow) ConvertOrdinals(text, formats);
  std::string out;
  size_t put = 0;
  const std::vector<WrittenNumber> codes = FindCodes(text);
  for (const WrittenNumber& number :
       FindNumbers(text, formats.source == NumberFormat::kSpaceGroups)) {
    const size_t size = number.end - number.begin;
    const bool is_in_code = std::ranges::any_of(codes, [&number](const WrittenNumber& code) {
      return code.begin <= number.begin && number.end <= code.end;
    });
    if (is_in_code) continue;
    const auto converted =
        ConvertNumber(std::string_view(text).substr(number.begin, size), formats);
    if (!converted || (!converted->must_convert && !IsSum(text, number))) continue;
    if (converted->text.size() != size && !may_grow) continue;
    const bool is_kept = std::ranges::any_of(marked.kept, [&number](const KeptSpan& kept) {
      return kept.begin < number.end && number.begin < kept.end;
    });
    if (is_kept) continue;
    out.append(text, put, number.begin - put);
    out += converted->text;
    put = number.end;
  }
  if (put == 0) return;
  out.append(text, put);
  text = std::move(out);
}

}  // namespace millrace::translation
