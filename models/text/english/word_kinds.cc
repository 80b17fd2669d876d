#include "models/text/english/word_kinds.h"

#include <unordered_map>

#include "models/core/embedded_table.h"
#include "models/text/english/one_of.h"
#include "models/text/english/spoken_names_text.h"
#include "models/text/english/word_kinds_text.h"

namespace millrace::models {

bool IsOfKind(std::string_view word, std::string_view kind) {
  static const auto& kinds = *new auto([] {
    std::unordered_map<std::string_view, WordSet> all;
    for (const auto& [name, words] : ReadTable<2>(kWordKindsText)) all.emplace(name, words);
    return all;
  }());
  const auto found = kinds.find(kind);
  return found != kinds.end() && found->second.Contains(word);
}

std::optional<std::string_view> FindSpoken(std::string_view written, std::string_view kind) {
  static const WordTable<3> names(kSpokenNamesText);
  for (const auto& [name, of, spoken] : names.FindAll(written)) {
    if (of == kind) return spoken;
  }
  return std::nullopt;
}

}  // namespace millrace::models
