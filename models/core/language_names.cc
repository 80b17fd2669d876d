#include "models/core/language_names.h"

#include <algorithm>
#include <cctype>

#include "models/core/embedded_table.h"
#include "models/core/language_names_text.h"
#include "models/core/strings.h"

namespace millrace::models {

std::string LanguageName(std::string_view tag) {
  const size_t dash = std::min(tag.find('-'), tag.size());
  std::string language(tag.substr(0, dash));
  std::ranges::transform(language, language.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  static const WordTable<2> names(kLanguageNamesText);
  const auto* const found = names.Find(language);
  if (found == nullptr) return std::string(tag);
  const std::string_view name = (*found)[1];
  if (dash == tag.size()) return std::string(name);
  return StrCat(name, " (", tag.substr(dash + 1), ")");
}

}  // namespace millrace::models
