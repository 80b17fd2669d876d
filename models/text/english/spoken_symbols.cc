#include "models/text/english/spoken_symbols.h"

#include <unordered_map>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/symbols_text.h"
#include "models/text/sign_names.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr SignName<std::string_view> kPauseMarks[] = {
    {U";；", ";"}, {U":：", ":"}, {U",、，", ","}, {U".。", "."}, {U"!！", "!"}, {U"?？", "?"},
    {U"–—―", "—"}, {U"…", "…"},   {U"([{", "("},   {U")]}", ")"}, {U"“„«", "“"}, {U"”»", "”"}};

// Returns true for most of what a text has, so that it is not looked for in the tables.
bool IsPlain(char32_t c) { return c == ' ' || (c < 0x80 && IsAsciiAlnum(static_cast<char>(c))); }

}  // namespace

std::string_view PauseMark(char32_t c, bool opens) {
  if (IsPlain(c)) return {};
  if (c == '"') return opens ? "“" : "”";
  return NameOfSign(kPauseMarks, c);
}

std::string_view SymbolName(char32_t c, bool before_digit) {
  if (IsPlain(c)) return {};
  if (c == '#') return before_digit ? "number" : "hashtag";
  if (c == '~') return before_digit ? "about" : "";
  static const auto& names = *new auto([] {
    std::unordered_map<char32_t, std::string_view> all;
    for (const auto& [sign, name] : ReadTable<2>(kSymbolsText))
      all.emplace(DecodeAt(sign, 0).value, name);
    return all;
  }());
  const auto found = names.find(c);
  return found == names.end() ? std::string_view() : found->second;
}

}  // namespace millrace::models
