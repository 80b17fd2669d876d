#include "models/translation/interface_words.h"

#include <string>

#include "models/core/embedded_table.h"
#include "models/core/strings.h"
#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/translation/interface_words_text.h"

namespace millrace::translation {
namespace {

constexpr size_t kLongest = 64;  // bytes of a text
constexpr size_t kFields = 3;    // the text in small letters, the languages, the translation

std::string_view FirstTag(std::string_view language) {
  return language.substr(0, language.find_first_of("-_"));
}

}  // namespace

std::string_view WithoutEndMarks(std::string_view text) {
  constexpr std::string_view kMarks = ".!?:";
  return text.substr(0, text.find_last_not_of(kMarks) + 1);
}

std::string_view InterfaceWords(std::string_view text, std::string_view source_language,
                                std::string_view target_language) {
  if (text.size() > kLongest) return {};
  static const auto& table =
      *new models::WordTable<kFields>(kInterfaceWordsText);  // never destroyed: threads may use it
  const auto rows = table.FindAll(models::AsciiLower(text));
  if (rows.empty()) return {};
  const std::string languages =
      models::AsciiLower(StrCat(FirstTag(source_language), "-", FirstTag(target_language)));
  for (const auto& [word, direction, translation] : rows) {
    if (direction != languages) continue;
    const bool is_of_interfaces = models::IsUpper(models::DecodeAt(translation, 0).value);
    if (!is_of_interfaces || models::IsUpper(models::DecodeAt(text, 0).value)) return translation;
  }
  return {};
}

}  // namespace millrace::translation
