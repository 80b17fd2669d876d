#include "models/translation/markup/number_repair.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

std::string DigitsOf(std::string_view number) {
  std::string digits;
  for (const char c : number) {
    if (models::IsAsciiDigit(c)) digits += c;
  }
  return digits;
}

std::string_view In(std::string_view text, const WrittenNumber& number) {
  return text.substr(number.begin, number.end - number.begin);
}

// Returns the numbers of `a` whose digits are not in `b`. Each number of `b` matches one of `a`.
std::vector<WrittenNumber> Missing(std::string_view a_text, std::span<const WrittenNumber> a,
                                   std::string_view b_text, std::span<const WrittenNumber> b) {
  std::map<std::string, size_t> there;
  for (const WrittenNumber& number : b) ++there[DigitsOf(In(b_text, number))];
  std::vector<WrittenNumber> missing;
  for (const WrittenNumber& number : a) {
    size_t& left = there[DigitsOf(In(a_text, number))];
    if (left > 0) {
      --left;
    } else {
      missing.push_back(number);
    }
  }
  return missing;
}

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

std::string_view Currency(const Amount& amount) {
  return amount.sign == "US$" ? std::string_view("$") : std::string_view(amount.sign);
}

}  // namespace

std::vector<WrittenNumber> FindNumbers(std::string_view text) {
  std::vector<WrittenNumber> numbers;
  for (size_t at = 0; at < text.size();) {
    if (!models::IsAsciiDigit(text[at])) {
      ++at;
      continue;
    }
    size_t end = models::DigitsEnd(text, at);
    while (end < text.size()) {
      const models::CodePoint c = models::DecodeAt(text, end);
      const bool joins = c.value == '.' || c.value == ',' || c.value == 0xA0 || c.value == 0x202F;
      if (!joins || !models::IsAsciiDigit(models::ByteAt(text, end + c.bytes))) break;
      end = models::DigitsEnd(text, end + c.bytes);
    }
    numbers.push_back({at, end});
    at = end;
  }
  return numbers;
}

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
  const auto currency = [](const Amount* amount) { return Currency(*amount); };
  for (const auto& [digits, amounts] : got_of) {
    const std::vector<const Amount*>& originals = wanted_of[digits];
    if (std::ranges::is_permutation(amounts, originals, {}, currency, currency)) continue;
    for (size_t i = 0; i < std::min(amounts.size(), originals.size()); ++i) {
      if (currency(amounts[i]) == currency(originals[i])) continue;
      repairs.push_back(
          {{amounts[i]->begin, amounts[i]->number.begin},
           source.substr(originals[i]->begin, originals[i]->number.begin - originals[i]->begin)});
    }
  }
  std::ranges::sort(repairs, {}, [](const NumberRepair& repair) { return repair.target.begin; });
  return repairs;
}

std::vector<NumberRepair> RepairNumbers(std::string_view source, std::string_view target) {
  const std::vector<WrittenNumber> wanted = FindNumbers(source);
  if (wanted.empty()) return {};
  const std::vector<WrittenNumber> got = FindNumbers(target);
  const auto lost = Missing(source, wanted, target, got);
  const auto strange = Missing(target, got, source, wanted);
  if (lost.size() != strange.size()) return {};
  std::vector<NumberRepair> repairs;
  for (size_t i = 0; i < lost.size(); ++i) {
    if (DigitsOf(In(source, lost[i])).size() >= kFewestDigits)
      repairs.push_back({strange[i], In(source, lost[i])});
  }
  return repairs;
}

}  // namespace millrace::translation
