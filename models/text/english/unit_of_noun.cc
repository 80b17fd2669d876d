#include "models/text/english/unit_of_noun.h"

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/units_of_nouns_text.h"

namespace millrace::models {

std::optional<Unit> FindUnitOfNoun(std::string_view text, size_t at, size_t end, bool spaced) {
  constexpr size_t kLongest = 2;
  if (end == at || end - at > kLongest) return std::nullopt;
  const size_t space = end + (ByteAt(text, end) == '.' ? 1 : 0);
  if (ByteAt(text, space) != ' ') return std::nullopt;
  const std::string_view noun = LettersAt(text, space + 1);
  // "1.5T of debt", but "2 c. of flour".
  const std::string_view whole = noun == "of" ? LettersAt(text, space + 4) : noun;
  static const WordTable<5> units(kUnitsOfNounsText);
  for (const auto& [letters, joint, singular, plural, nouns] :
       units.FindAll(text.substr(at, end - at))) {
    if (joint != (spaced ? "joined" : "spaced") &&
        (IsListed(noun, nouns) || IsListed(whole, nouns)))
      return Unit{std::string(singular), std::string(plural)};
  }
  return std::nullopt;
}

}  // namespace millrace::models
