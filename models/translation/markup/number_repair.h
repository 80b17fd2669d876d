#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/number_format.h"
#include "models/translation/markup/written_numbers.h"

namespace millrace::translation {

// The fewest digits of a number that is corrected. Shorter ones, such as times and small counts,
// may be expressed in another way.
inline constexpr size_t kFewestDigits = 3;

// A number of a source and the one of its translation that has the same digits.
struct NumberPair {
  WrittenNumber source;
  WrittenNumber target;
};

// Bytes of a translation, such as a number or a currency sign, and the text that should replace
// them.
struct NumberRepair {
  WrittenNumber target;
  std::string becomes;
};

// Returns corrections of the numbers of a translation, in order:
// - A number of the source comes wholly as the target's format writes it or wholly as the source
//   does.
// - A number of three digits or more that the model changed is put back, if the translation lacks
// as
//   many of the source's numbers as it has of its own. "5 mil" is no change of 5,000.
// - A code that the model changed or cut short is put back; a date may come in another order.
// - An ordinal gets the mark of the target's language.
// - What the model added behind a number goes: another number, a currency in brackets, the mark of
//   an ordinal.
std::vector<NumberRepair> RepairNumbers(std::string_view source, std::string_view target,
                                        const NumberFormats& formats = {});

// Returns the numbers of a source that its translation lacks, in order.
std::vector<std::string_view> LostNumbers(std::string_view source, std::string_view target,
                                          const NumberFormats& formats = {});

// Returns true if a translation has a number of three digits or more that stands for none of the
// source.
bool AddsNumber(std::string_view source, std::string_view target,
                const NumberFormats& formats = {});

}  // namespace millrace::translation
