#include "models/text/clause_number.h"

namespace millrace::models {
namespace {

class ClauseNumberReader final : PatternText {
 public:
  explicit ClauseNumberReader(const PatternText& text) : PatternText(text) {}

  size_t ReferenceEnd(size_t at) const {
    size_t end = DigitsEnd(text_, at);
    const bool is_fraction = at > 1 && text_[at - 1] == ',' && IsAsciiDigit(text_[at - 2]);
    if (end == at || is_fraction) return 0;
    const bool is_whole = At(end) != '.' && At(end) != ',';
    while (At(end) == '.' && DigitsEnd(text_, end + 1) > end + 1) end = DigitsEnd(text_, end + 1);
    if (IsAsciiLetter(At(end)) && !IsNameByte(At(end + 1))) ++end;
    size_t last = 0;
    for (size_t group = ReferenceGroup(end, is_whole); group > 0 && last < at + kMaxSpanBytes;
         group = ReferenceGroup(last, is_whole))
      last = group;
    return last > 0 && !IsWordCharacter(DecodeAt(text_, last).value) ? last : 0;
  }

 private:
  // Returns the end of (2), (a) or (iv), before which there may be a space; 0 if there is none.
  size_t ReferenceGroup(size_t at, bool may_have_space) const {
    constexpr size_t kMostDigits = 4;
    constexpr std::string_view kRoman = "ivxlcdmIVXLCDM";
    if (may_have_space && At(at) == ' ') ++at;
    if (At(at) != '(') return 0;
    const size_t begin = at + 1;
    const size_t digits = DigitsEnd(text_, begin);
    const size_t letters = RunEnd(begin, [](char c) { return IsAsciiLetter(c); });
    const size_t end = std::max(digits, letters);
    if (end == begin || At(end) != ')' || end - begin > kMostDigits + 1) return 0;
    const std::string_view inner = text_.substr(begin, end - begin);
    const bool is_roman = inner.find_first_not_of(kRoman) == std::string_view::npos;
    return digits > begin || inner.size() == 1 || is_roman ? end + 1 : 0;
  }
};

}  // namespace

size_t ClauseNumberEnd(const PatternText& text, size_t at) {
  return ClauseNumberReader(text).ReferenceEnd(at);
}

}  // namespace millrace::models
