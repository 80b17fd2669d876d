#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/number_format.h"
#include "models/translation/markup/number_repair.h"

namespace millrace::translation {

// Returns the end of the sign of an ordinal behind a number, which ends at `at`: 21º, 3.ª; `at` if
// there is none.
size_t OrdinalSignEnd(std::string_view text, size_t at);

// Returns the end of the mark of an ordinal of a Romance language that is joined to a number, which
// ends at `at`: "335.o", "335º". Returns `at` if there is none.
size_t OrdinalEnd(std::string_view text, size_t at);

// Returns true if some number of the text has letters joined to it, or a sign of ordinals.
bool HasOrdinals(std::string_view text);

// Writes the ordinals of a text without words with the marks of the target's language: 4th for 4º.
void ConvertOrdinals(std::string& text, const NumberFormats& formats);

// Returns corrections of the ordinals of a translation:
// - "1o" becomes "1º" where the source has no such letter.
// - An ordinal that lost its mark, or has that of the source's language, gets the mark of the
//   target's: "21st" and "21º". The day of a month needs none, nor does an age: "40 anos".
// - "5 of May" for "5 de maio" becomes "5th of May".
// - A degree sign that the model took for the mark of an ordinal, or dropped, is put back.
// pairs: the numbers of both texts that have the same digits.
std::vector<NumberRepair> RepairOrdinals(std::string_view source, std::string_view target,
                                         std::span<const NumberPair> pairs,
                                         const NumberFormats& formats);

}  // namespace millrace::translation
