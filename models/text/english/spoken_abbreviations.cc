#include "models/text/english/spoken_abbreviations.h"

#include <algorithm>

#include "models/core/embedded_table.h"
#include "models/text/english/spoken_abbreviations_text.h"

namespace millrace::models {
namespace {

using When = SpokenAbbreviation::When;

// In the order of When.
constexpr std::string_view kWhen[] = {"always", "stop",        "capital",       "digit",
                                      "more",   "name",        "after-ordinal", "after-name",
                                      "county", "without-name"};

}  // namespace

std::optional<SpokenAbbreviation> FindSpokenAbbreviation(std::string_view word, bool second) {
  static const WordTable<3> table(kSpokenAbbreviationsText);
  const auto meanings = table.FindAll(word);
  if (meanings.size() <= (second ? 1 : 0)) return std::nullopt;
  const auto& [written, words, when] = meanings[second ? 1 : 0];
  return SpokenAbbreviation{words, static_cast<When>(std::ranges::find(kWhen, when) - kWhen)};
}

}  // namespace millrace::models
