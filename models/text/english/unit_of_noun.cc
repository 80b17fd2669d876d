#include "models/text/english/unit_of_noun.h"

#include <array>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

// Nouns with a space before and behind each.
constexpr std::string_view kCircuits = " breaker charger circuit current fuse outlet plug socket ";
constexpr std::string_view kCrowds =
    " children customers downloads followers people subscribers users views voters workers ";
constexpr std::string_view kFood =
    " baking brown butter buttermilk cheese chicken chopped cocoa cold cooked corn cornstarch "
    "cream "
    "diced flour granulated grated heavy honey hot milk oil olive powdered raisins rice salt "
    "shredded sliced sour soy stock sugar vanilla vegetable vinegar warm water white yogurt ";
constexpr std::string_view kGems = " diamond diamonds emerald ring ruby sapphire solitaire stone ";
constexpr std::string_view kGold = " gold rose white yellow ";
constexpr std::string_view kOf = " of ";
constexpr std::string_view kPoured =
    " ale beer blood blueberries broth cherry cream heavy ice juice milk raspberries sour stock "
    "strawberries water whipping whole ";

struct UnitOfNoun {
  std::string_view letters;
  char spaced;  // 's': only with a space before the letters, 'j': only without one
  std::string_view singular;
  std::string_view plural;
  std::string_view nouns;
};

constexpr auto kUnits = std::to_array<UnitOfNoun>({
    {"A", 's', "amp", "amps", kCircuits},
    {"B", 'j', "billion", "billion", kCrowds},
    {"C", 's', "cup", "cups", kFood},
    {"C", 's', "cup", "cups", kOf},
    {"T", 's', "tablespoon", "tablespoons", kFood},
    {"b", 'j', "billion", "billion", kCrowds},
    {"c", 's', "cup", "cups", kFood},
    {"c", 's', "cup", "cups", kOf},
    {"ct", ' ', "karat", "karat", kGold},
    {"ct", ' ', "carat", "carat", kGems},
    {"kt", ' ', "karat", "karat", kGold},
    {"kt", ' ', "karat", "karat", kGems},
    {"m", 'j', "million", "million", kCrowds},
    {"pt", ' ', "pint", "pints", kOf},
    {"pt", ' ', "pint", "pints", kPoured},
    {"t", 's', "teaspoon", "teaspoons", kFood},
});

}  // namespace

std::optional<Unit> FindUnitOfNoun(std::string_view text, size_t at, size_t end, bool spaced) {
  constexpr size_t kLongest = 2;
  if (end == at || end - at > kLongest) return std::nullopt;
  const size_t space = end + (ByteAt(text, end) == '.' ? 1 : 0);
  if (ByteAt(text, space) != ' ') return std::nullopt;
  const std::string_view noun = LettersAt(text, space + 1);
  for (const UnitOfNoun& unit : kUnits) {
    if (unit.letters == text.substr(at, end - at) && unit.spaced != (spaced ? 'j' : 's') &&
        IsListed(noun, unit.nouns))
      return Unit{std::string(unit.singular), std::string(unit.plural)};
  }
  return std::nullopt;
}

}  // namespace millrace::models
