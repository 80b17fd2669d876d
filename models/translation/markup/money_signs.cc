#include "models/translation/markup/money_signs.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// A $ with the letters before it and the number after it; there may be a space between any of them.
struct Amount {
  size_t begin = 0;
  WrittenNumber number;
  std::string sign;  // without spaces
};

std::vector<Amount> FindAmounts(std::string_view text) {
  constexpr size_t kMostLetters = 3;
  std::vector<Amount> amounts;
  for (const WrittenNumber& number : FindNumbers(text)) {
    size_t at = number.begin;
    if (at > 0 && text[at - 1] == ' ') --at;
    if (at == 0 || text[at - 1] != '$') continue;
    --at;
    size_t letters = at > 0 && text[at - 1] == ' ' ? at - 1 : at;
    const size_t end = letters;
    while (letters > 0 && models::IsAsciiUpper(text[letters - 1])) --letters;
    const bool word =
        letters > 0 && models::IsWordCharacter(models::DecodeBefore(text, letters).value);
    // Before a space only letters that name the country of the dollar belong to the sign; others
    // may be the last word of a heading.
    const bool of_sign = !word && end - letters <= kMostLetters &&
                         (end == at || text.substr(letters, end - letters) == "US");
    if (!of_sign) letters = at;
    const bool has_letters = letters < end;
    std::string sign(has_letters ? text.substr(letters, end - letters) : std::string_view());
    amounts.push_back({has_letters ? letters : at, number, std::move(sign) + '$'});
  }
  return amounts;
}

}  // namespace

std::vector<NumberRepair> RepairMoneySigns(std::string_view source, std::string_view target) {
  if (source.find('$') == std::string_view::npos) return {};
  const std::vector<Amount> wanted = FindAmounts(source);
  const std::vector<Amount> got = FindAmounts(target);
  // Maps each number to its amounts, in order.
  std::map<std::string, std::vector<const Amount*>> wanted_of;
  std::map<std::string, std::vector<const Amount*>> got_of;
  for (const Amount& amount : wanted)
    wanted_of[DigitsOf(In(source, amount.number))].push_back(&amount);
  for (const Amount& amount : got) got_of[DigitsOf(In(target, amount.number))].push_back(&amount);
  std::vector<NumberRepair> repairs;
  const auto currency = [](const Amount* amount) {
    return amount->sign == "US$" ? std::string_view("$") : std::string_view(amount->sign);
  };
  for (const auto& [digits, amounts] : got_of) {
    const std::vector<const Amount*>& originals = wanted_of[digits];
    const bool all_same = std::ranges::is_permutation(amounts, originals, {}, currency, currency);
    for (size_t i = 0; i < std::min(amounts.size(), originals.size()); ++i) {
      const bool same = currency(amounts[i]) == currency(originals[i]);
      // "US $ 5" is no sign of a sum.
      const bool divided =
          target.substr(amounts[i]->begin, amounts[i]->number.begin - amounts[i]->begin)
              .find(" $") != std::string_view::npos;
      if (same ? !divided : all_same) continue;
      repairs.push_back({{amounts[i]->begin, amounts[i]->number.begin},
                         std::string(source.substr(originals[i]->begin, originals[i]->number.begin -
                                                                            originals[i]->begin))});
    }
  }
  std::ranges::sort(repairs, {}, [](const NumberRepair& repair) { return repair.target.begin; });
  return repairs;
}

}  // namespace millrace::translation
