#include "models/translation/markup/number_repair.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/translation/markup/ordinals.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

// The numbers of a source and of its translation, compared by their digits.
struct MatchedNumbers {
  std::vector<NumberPair> pairs;       // in the order of the translation
  std::vector<WrittenNumber> lost;     // numbers of the source
  std::vector<WrittenNumber> strange;  // numbers of the translation
};

// Returns true if one of two numbers is the other with zeros in place of a word such as "million",
// which must stand behind the shorter one.
bool DiffersByScale(std::string_view a_text, const WrittenNumber& a, std::string_view b_text,
                    const WrittenNumber& b) {
  constexpr size_t kThousand = 3;
  std::string longer = DigitsOf(In(a_text, a));
  std::string shorter = DigitsOf(In(b_text, b));
  std::string_view text = b_text;
  size_t behind = b.end;
  if (longer.size() < shorter.size()) {
    std::swap(longer, shorter);
    text = a_text;
    behind = a.end;
  }
  if (longer.size() < shorter.size() + 1 || !longer.starts_with(shorter)) return false;
  const size_t zeros = longer.size() - shorter.size();
  if (longer.find_first_not_of('0', shorter.size()) != std::string::npos) return false;
  // A fraction such as that of 2.5 takes the place of up to two zeros of three.
  if (zeros < kThousand && longer.size() < kThousand + 1) return false;
  while (behind < text.size() && models::IsSpace(models::DecodeAt(text, behind).value))
    behind += models::DecodeAt(text, behind).bytes;
  const std::string_view word = text.substr(behind, models::LettersEnd(text, behind) - behind);
  return behind < text.size() && models::IsLetter(models::DecodeAt(text, behind).value) &&
         !IsListed("no scale", word);
}

// Returns the numbers of a code, sorted.
std::vector<std::string_view> PartsOfCode(std::string_view code) {
  std::vector<std::string_view> parts;
  for (const WrittenNumber& number : FindNumbers(code)) parts.push_back(In(code, number));
  std::ranges::sort(parts);
  return parts;
}

// The codes of a source and of its translation that are not the same, but for the order of their
// parts, and where the others are.
struct MatchedCodes {
  std::vector<WrittenNumber> lost;     // numbers of the source
  std::vector<WrittenNumber> strange;  // numbers of the translation
  std::vector<WrittenNumber> source_same;
  std::vector<WrittenNumber> target_same;
};

MatchedCodes MatchCodes(std::string_view source, std::string_view target) {
  MatchedCodes matched;
  matched.lost = FindCodes(source);
  if (matched.lost.empty()) return matched;
  for (const WrittenNumber& code : FindCodes(target)) {
    const auto same = std::ranges::find_if(matched.lost, [&](const WrittenNumber& original) {
      return PartsOfCode(In(source, original)) == PartsOfCode(In(target, code));
    });
    if (same == matched.lost.end()) {
      matched.strange.push_back(code);
      continue;
    }
    matched.source_same.push_back(*same);
    matched.target_same.push_back(code);
    matched.lost.erase(same);
  }
  return matched;
}

bool IsWithin(std::span<const WrittenNumber> codes, const WrittenNumber& number) {
  return std::ranges::any_of(codes, [&number](const WrittenNumber& code) {
    return code.begin <= number.begin && number.end <= code.end;
  });
}

MatchedNumbers Match(std::string_view source, std::string_view target,
                     const NumberFormats& formats) {
  std::vector<WrittenNumber> wanted =
      FindNumbers(source, formats.source == NumberFormat::kSpaceGroups);
  std::vector<WrittenNumber> got =
      FindNumbers(target, formats.target == NumberFormat::kSpaceGroups);
  const MatchedCodes codes = MatchCodes(source, target);
  std::erase_if(wanted, [&](const auto& number) { return IsWithin(codes.source_same, number); });
  std::erase_if(got, [&](const auto& number) { return IsWithin(codes.target_same, number); });
  // Maps digits to the numbers of the source that have them, the first of which is last.
  std::map<std::string, std::vector<WrittenNumber>> open;
  for (auto it = wanted.rbegin(); it != wanted.rend(); ++it)
    open[DigitsOf(In(source, *it))].push_back(*it);
  MatchedNumbers matched;
  for (const WrittenNumber& number : got) {
    const auto found = open.find(DigitsOf(In(target, number)));
    if (found == open.end() || found->second.empty()) {
      matched.strange.push_back(number);
    } else {
      matched.pairs.push_back({found->second.back(), number});
      found->second.pop_back();
    }
  }
  for (const auto& [digits, numbers] : open)
    matched.lost.insert(matched.lost.end(), numbers.begin(), numbers.end());
  std::ranges::sort(matched.lost, {}, &WrittenNumber::begin);
  std::erase_if(matched.lost, [&](const WrittenNumber& lost) {
    const auto same = std::ranges::find_if(matched.strange, [&](const WrittenNumber& strange) {
      return DiffersByScale(source, lost, target, strange);
    });
    if (same == matched.strange.end()) return false;
    matched.strange.erase(same);
    return true;
  });
  return matched;
}

// Returns true if a number is a sum of dollars, reais or pesos, a percentage, or has a unit.
bool IsAmount(std::string_view text, const WrittenNumber& number) {
  const size_t before = number.begin > 0 && text[number.begin - 1] == ' ' ? 1 : 0;
  if ((number.begin > before && text[number.begin - before - 1] == '$') ||
      models::ByteAt(text, number.end) == '%')
    return true;
  const size_t unit = number.end + (models::ByteAt(text, number.end) == ' ' ? 1 : 0);
  const size_t end = models::LettersEnd(text, unit);
  return end > unit && !models::IsWordCharacter(models::DecodeAt(text, end).value) &&
         IsListed("units of amounts", text.substr(unit, end - unit));
}

// Returns what a number should be where it stands as `got` in a translation; nullopt if that is
// right. is_amount: it is no number of a section or a version.
std::optional<std::string> Corrected(std::string_view wanted, std::string_view got, bool is_amount,
                                     const NumberFormats& formats) {
  if (const auto converted = ConvertNumber(wanted, formats)) {
    const bool may_stay = !converted->must_convert && !is_amount;
    if (got == converted->text || (may_stay && got == wanted)) return std::nullopt;
    return converted->text;
  }
  if (got == wanted || !formats.known()) return std::nullopt;
  constexpr size_t kMayHaveGroups = 5;  // digits; fewer may be a year
  if (wanted.size() >= kMayHaveGroups && IsGroupedForm(wanted, got, formats)) return std::nullopt;
  return std::string(wanted);
}

// Returns corrections of what remains of codes whose end the model dropped: "23:59" of "23:59:59".
std::vector<NumberRepair> CompleteCodes(std::string_view source, std::string_view target,
                                        std::span<const WrittenNumber> lost) {
  constexpr size_t kFewestBytes = 3;  // two digits and a sign
  std::vector<NumberRepair> repairs;
  const std::vector<WrittenNumber> numbers = FindNumbers(target);
  for (const WrittenNumber& code : lost) {
    const std::string_view written = In(source, code);
    for (const WrittenNumber& first : numbers) {
      const auto free = [&first](const NumberRepair& repair) {
        return repair.target.end <= first.begin;
      };
      const std::string_view rest = target.substr(first.begin);
      const auto same =
          static_cast<size_t>(std::ranges::mismatch(written, rest).in1 - written.begin());
      const auto last = std::ranges::find(numbers, first.begin + same, &WrittenNumber::end);
      if (last == numbers.end() || last->begin == first.begin || same < kFewestBytes ||
          !std::ranges::all_of(repairs, free))
        continue;
      repairs.push_back({{first.begin, last->end}, std::string(written)});
      break;
    }
  }
  return repairs;
}

// Returns corrections of the codes of a translation that are none of the source's.
std::vector<NumberRepair> RepairCodes(std::string_view source, std::string_view target) {
  const MatchedCodes codes = MatchCodes(source, target);
  std::vector<NumberRepair> repairs;
  if (codes.strange.empty()) return CompleteCodes(source, target, codes.lost);
  if (codes.lost.size() != codes.strange.size()) return repairs;
  for (size_t i = 0; i < codes.strange.size(); ++i)
    repairs.push_back({codes.strange[i], std::string(In(source, codes.lost[i]))});
  return repairs;
}

bool IsSpaceBetween(std::string_view text, size_t begin, size_t end) {
  while (begin < end) {
    const models::CodePoint c = models::DecodeAt(text, begin);
    if (!models::IsSpace(c.value)) return false;
    begin += c.bytes;
  }
  return true;
}

// Returns true if text in brackets names a currency or a country, or is a number that the source
// has not.
bool IsAddedNote(std::string_view note, std::string_view source, const NumberFormats& formats) {
  constexpr size_t kLongest = 4;
  if (note.empty()) return true;
  if (note.size() <= kLongest && std::ranges::all_of(note, models::IsAsciiUpper)) return true;
  if (note.find_first_not_of("0123456789.,") != std::string_view::npos) return false;
  return !Match(source, note, formats).strange.empty();
}

// Returns the byte before a place; 0 at the beginning.
char ByteBefore(std::string_view text, size_t at) { return at > 0 ? text[at - 1] : '\0'; }

// Returns true if a sign touches the beginning or the end of a number of a text that has these
// digits.
bool HasSigned(std::string_view text, const std::string& digits, char sign, bool before) {
  return std::ranges::any_of(FindNumbers(text), [&](const WrittenNumber& number) {
    return (before ? ByteBefore(text, number.begin) : models::ByteAt(text, number.end)) == sign &&
           DigitsOf(In(text, number)) == digits;
  });
}

// Returns corrections of spaces beside a sign that joins two numbers of the source, begins or ends
// one: "01310 - 100" for "01310-100", "5 $" for "5$", "> 5" for ">5".
std::vector<NumberRepair> RepairJoints(std::string_view source, std::string_view target) {
  constexpr std::string_view kJoints = "-/:";
  constexpr std::string_view kPoints = ".,";
  constexpr std::string_view kSigns = "$%";
  constexpr std::string_view kSignsBefore = "<>=~+#";
  std::vector<NumberRepair> repairs;
  const std::vector<WrittenNumber> numbers = FindNumbers(target);
  for (const WrittenNumber& number : numbers) {
    const char sign = models::ByteAt(target, number.end + 1);
    if (models::ByteAt(target, number.end) == ' ' && sign != '\0' &&
        kSigns.find(sign) != std::string_view::npos &&
        HasSigned(source, DigitsOf(In(target, number)), sign, /*before=*/false))
      repairs.push_back({{number.end, number.end + 1}, {}});
    const bool spaced = ByteBefore(target, number.begin) == ' ';
    const char opening = spaced ? ByteBefore(target, number.begin - 1) : '\0';
    if (opening != '\0' && kSignsBefore.find(opening) != std::string_view::npos &&
        HasSigned(source, DigitsOf(In(target, number)), opening, /*before=*/true))
      repairs.push_back({{number.begin - 1, number.begin}, {}});
  }
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    const size_t begin = numbers[i].end;
    const size_t end = numbers[i + 1].begin;
    const std::string_view between = target.substr(begin, end - begin);
    const std::string_view joint = models::Trim(between);
    if (joint.size() != 1 || joint == between) continue;
    const auto is_in_source = [&](char sign) {
      return source.find(std::string(In(target, numbers[i])) + sign +
                         std::string(In(target, numbers[i + 1]))) != source.npos;
    };
    // A fraction has the sign of the target language: "0, 5" for 0.5.
    const bool is_fraction =
        kPoints.find(joint) != kPoints.npos && std::ranges::any_of(kPoints, is_in_source);
    if (is_fraction || (kJoints.find(joint) != kJoints.npos && is_in_source(joint.front())))
      repairs.push_back({{begin, end}, std::string(joint)});
  }
  return repairs;
}

// Returns what the model added behind numbers: (50), (EUA), or the number once more.
std::vector<WrittenNumber> FindAdded(std::string_view source, std::string_view target,
                                     const MatchedNumbers& matched, const NumberFormats& formats) {
  const std::vector<WrittenNumber> numbers =
      FindNumbers(target, formats.target == NumberFormat::kSpaceGroups);
  const bool source_has_brackets = source.find('(') != std::string_view::npos;
  const bool has_ordinals = HasOrdinals(source);
  std::vector<WrittenNumber> added;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t end = numbers[i].end;
    if (!added.empty() && numbers[i].begin < added.back().end) continue;
    if (i + 1 < numbers.size() && IsSpaceBetween(target, end, numbers[i + 1].begin) &&
        std::ranges::find(matched.strange, numbers[i + 1].begin, &WrittenNumber::begin) !=
            matched.strange.end()) {
      added.push_back({end, numbers[i + 1].end});
      continue;
    }
    if (const size_t ordinal = has_ordinals ? end : OrdinalEnd(target, end); ordinal > end) {
      added.push_back({end, ordinal});
      continue;
    }
    if (source_has_brackets) continue;
    const size_t open = std::min(target.find_first_not_of(' ', end), target.size());
    if (models::ByteAt(target, open) != '(') continue;
    const size_t close = target.find(')', open);
    const size_t note_end = std::min(close, target.size());
    if (IsAddedNote(target.substr(open + 1, note_end - open - 1), source, formats))
      added.push_back({end, close == std::string_view::npos ? target.size() : close + 1});
  }
  return added;
}

}  // namespace

std::vector<NumberRepair> RepairNumbers(std::string_view source, std::string_view target,
                                        const NumberFormats& formats) {
  MatchedNumbers matched = Match(source, target, formats);
  std::vector<NumberRepair> repairs = RepairCodes(source, target);
  for (auto& others :
       {RepairJoints(source, target), RepairOrdinals(source, target, matched.pairs, formats)})
    repairs.insert(repairs.end(), others.begin(), others.end());
  const auto is_added = [&repairs](const WrittenNumber& number) {
    return std::ranges::any_of(repairs, [&number](const NumberRepair& repair) {
      return repair.target.begin <= number.begin && number.end <= repair.target.end;
    });
  };
  for (const WrittenNumber& added : FindAdded(source, target, matched, formats)) {
    if (!is_added(added)) repairs.push_back({added, {}});
  }
  std::erase_if(matched.strange, is_added);
  for (const NumberPair& pair : matched.pairs) {
    auto corrected = Corrected(In(source, pair.source), In(target, pair.target),
                               IsAmount(source, pair.source), formats);
    if (corrected && !is_added(pair.target))
      repairs.push_back({pair.target, *std::move(corrected)});
  }
  if (matched.lost.size() == matched.strange.size()) {
    for (size_t i = 0; i < matched.lost.size(); ++i) {
      const std::string_view lost = In(source, matched.lost[i]);
      if (DigitsOf(lost).size() < kFewestDigits) continue;
      const auto converted = ConvertNumber(lost, formats);
      repairs.push_back({matched.strange[i], converted ? converted->text : std::string(lost)});
    }
  }
  std::ranges::sort(repairs, {}, [](const NumberRepair& repair) { return repair.target.begin; });
  return repairs;
}

std::vector<std::string_view> LostNumbers(std::string_view source, std::string_view target,
                                          const NumberFormats& formats) {
  std::vector<std::string_view> lost;
  for (const WrittenNumber& number : Match(source, target, formats).lost)
    lost.push_back(In(source, number));
  return lost;
}

bool AddsNumber(std::string_view source, std::string_view target, const NumberFormats& formats) {
  const MatchedNumbers matched = Match(source, target, formats);
  constexpr size_t kYear = 4;
  const auto is_year_of = [&](const std::string& digits) {
    // The year of '80s may come with its century.
    return digits.size() == kYear &&
           std::ranges::any_of(matched.lost, [&](const WrittenNumber& lost) {
             return digits.substr(kYear / 2) == DigitsOf(In(source, lost));
           });
  };
  return std::ranges::any_of(matched.strange, [&](const WrittenNumber& strange) {
    const std::string digits = DigitsOf(In(target, strange));
    return digits.size() >= kFewestDigits && !is_year_of(digits);
  });
}

}  // namespace millrace::translation
