#include "models/text/english/spoken_abbreviations.h"

#include <algorithm>

#include "models/core/embedded_table.h"
#include "models/text/english/spoken_abbreviations_text.h"

namespace millrace::models {
namespace {

using When = SpokenAbbreviation::When;

// In the order of When.
constexpr std::string_view kWhen[] = {"always",        "stop",       "capital",
                                      "digit",         "more",       "name",
                                      "after-ordinal", "after-name", "without-name"};

}  // namespace

std::optional<SpokenAbbreviation> FindSpokenAbbreviation(std::string_view word, size_t meaning) {
  static const WordTable<3> table(kSpokenAbbreviationsText);
  const auto meanings = table.FindAll(word);
  if (meaning >= meanings.size()) return std::nullopt;
  const auto& [written, words, when] = meanings[meaning];
  return SpokenAbbreviation{words, static_cast<When>(std::ranges::find(kWhen, when) - kWhen)};
}

}  // namespace millrace::models
