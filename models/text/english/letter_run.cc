#include "models/text/english/letter_run.h"

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/spoken_word.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxJoinedParts = 6;

std::string MakePlain(std::string_view written) {
  std::string word;
  for (size_t at = 0; at < written.size();) {
    const CodePoint c = DecodeAt(written, at);
    if (c.value == 0x2019) {
      word += '\'';
    } else if (c.value == 0x2010) {
      word += '-';
    } else {
      word += written.substr(at, c.bytes);
    }
    at += c.bytes;
  }
  return word;
}

}  // namespace

LetterRun FindLetterRun(std::string_view text, size_t at) {
  size_t end = at;
  size_t parts = 1;
  bool plain = true;
  while (end - at < kMaxSpokenWordBytes) {
    const CodePoint c = DecodeAt(text, end);
    if (c.bytes == 0 || end + c.bytes - at > kMaxSpokenWordBytes) break;
    if (IsLetter(c.value)) {
      // "ΔT" and "iπ" are two letters.
      const char32_t before = end > at ? DecodeBefore(text, end).value : 0;
      if (IsLetter(before) && IsGreek(c.value) != IsGreek(before)) break;
      end += c.bytes;
      continue;
    }
    const bool joins = IsApostrophe(c.value) ||
                       ((c.value == '-' || c.value == 0x2010) && ++parts <= kMaxJoinedParts);
    const size_t next = end + c.bytes;
    // "A $20-a-day habit", "a $15-an-hour wage".
    if (plain && c.value == '-' && at > 1 && text[at - 1] == '-' &&
        IsOneOf(text.substr(at, end - at), "a", "an"))
      break;
    // The hyphen of "(a-b)" is a minus.
    if (plain && c.value == '-' && end == at + 1 && at > 0 && text[at - 1] == '(' &&
        IsAsciiLower(text[at]) && IsAsciiLower(ByteAt(text, end + 1)) &&
        ByteAt(text, end + 2) == ')')
      break;
    // The hyphen of "44 BC-AD 14" is no part of a word.
    if (plain && c.value == '-' && IsOneOf(text.substr(at, end - at), "BC", "BCE", "CE")) break;
    // "Pre-WWII".
    if (c.value == '-' && text.substr(next).starts_with("WWI")) break;
    if (!joins || next - at >= kMaxSpokenWordBytes || !IsLetter(DecodeAt(text, next).value)) break;
    plain = false;
    end = next;
  }
  return {end, plain, MakePlain(text.substr(at, end - at))};
}

bool IsInitial(std::string_view text, size_t end, std::string_view word) {
  const char next = ByteAt(text, end + 2);
  return word.size() == 1 && IsAsciiUpper(word[0]) && word != "I" && text.substr(end, 2) == ". " &&
         (IsAsciiUpper(next) || (IsOneOf(word, "D", "K", "S") && IsAsciiDigit(next)));
}

}  // namespace millrace::models
