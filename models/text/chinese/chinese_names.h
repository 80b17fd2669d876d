#pragma once

#include <optional>
#include <string_view>

namespace millrace::models {

// Returns true if the text ends with the name of an aircraft, a rocket or a weapon, to which a
// hyphen joins its number: 歼-20. Thread-safe.
bool EndsNameOfModel(std::u32string_view before);

// How digits are said one by one: as those of a telephone, whose 1 is 幺, or plainly.
enum class Digits { kTelephone, kPlain };

// Finds out how a number is said that is said digit by digit between its neighbours: 12306,
// 985高校, 验证码1234; nothing for others. Thread-safe.
std::optional<Digits> SaidByDigits(std::u32string_view digits, std::u32string_view before,
                                   std::u32string_view behind);

// Returns true for the names of counted things, of which there are 两: 2个. Thread-safe.
bool StartsWithMeasureWord(std::u32string_view text);

// Returns true for what was done by the numbers before it, which are a score: 21:19获胜.
// Thread-safe.
bool StartsWithVerbOfScore(std::u32string_view text);

// Returns true for what is named by the day before it: 5.1劳动节. Thread-safe.
bool StartsWithNamedDay(std::u32string_view text);

// Returns true for a year of two digits, which what happened in it stands behind: 98年世界杯,
// 98年5月.
bool NamesShortYear(std::u32string_view digits, std::u32string_view behind);

// Returns true for the rooms of a flat: 2室2厅2卫.
bool CountsRooms(std::u32string_view before, std::u32string_view behind);

}  // namespace millrace::models
