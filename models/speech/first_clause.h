#pragma once

#include <string_view>
#include <vector>

namespace millrace::speech {

// Cuts the first of a text's units (see SplitSpeechUnits) after its first clause, so that a
// listener hears that while the rest is synthesised. The cut is at the first comma, semicolon,
// colon or dash with a few words on either side; without one the unit stays whole. Only white space
// is lost.
void CutFirstClause(std::vector<std::string_view>& units);

}  // namespace millrace::speech
