#include "models/translation/markup/capitals.h"

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// Calls `take` for each part of the text, in order, with whether it is kept.
template <typename Take>
void ForEachStretch(const MarkedText& marked, const Take& take) {
  const std::string_view text = marked.text;
  size_t at = 0;
  for (const KeptSpan& kept : marked.kept) {
    take(text.substr(at, kept.begin - at), /*is_kept=*/false);
    take(text.substr(kept.begin, kept.end - kept.begin), /*is_kept=*/true);
    at = kept.end;
  }
  take(text.substr(at), /*is_kept=*/false);
}

// Returns the text with each letter replaced that has a counterpart with as many bytes.
template <typename Other>
std::string WithOtherLetters(std::string_view text, const Other& other) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
    const std::string_view own = text.substr(at, c.bytes);
    const std::string letter = other(c.value);
    out += letter.size() == own.size() ? letter : own;
    at += c.bytes;
  }
  return out;
}

}  // namespace

bool IsInCapitals(const MarkedText& marked) {
  size_t capitals = 0;
  bool small = false;
  ForEachStretch(marked, [&](std::string_view text, bool is_kept) {
    for (size_t at = 0; !is_kept && !small && at < text.size();) {
      const models::CodePoint c = models::DecodeAt(text, at);
      small = models::IsLower(c.value);
      if (models::IsUpper(c.value)) ++capitals;
      at += c.bytes;
    }
  });
  return !small && capitals >= 2;
}

std::string InSmallLetters(const MarkedText& marked) {
  std::string out;
  ForEachStretch(marked, [&out](std::string_view text, bool is_kept) {
    out += is_kept ? std::string(text) : WithOtherLetters(text, [](char32_t c) {
      return models::EncodeUtf8(models::ToLower(c));
    });
  });
  // The letters of a sign of money, as in R$, are of no word.
  for (size_t sign = marked.text.find('$'); sign != std::string::npos;
       sign = marked.text.find('$', sign + 1)) {
    for (size_t at = sign; at > 0 && models::IsAsciiUpper(marked.text[at - 1]); --at)
      out[at - 1] = marked.text[at - 1];
  }
  return out;
}

std::string LowerText(std::string_view text) {
  std::string lower;
  for (const char32_t c : models::DecodeUtf8(text)) lower += models::EncodeUtf8(models::ToLower(c));
  return lower;
}

std::string InCapitals(std::string_view text) {
  return WithOtherLetters(text, [](char32_t c) {
    return c == U'ß' ? std::string("SS") : models::EncodeUtf8(models::ToUpper(c));
  });
}

}  // namespace millrace::translation
