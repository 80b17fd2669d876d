#pragma once

#include <string_view>
#include <vector>

namespace millrace::speech {

// Cuts the first of a text's units (see SplitSpeechUnits) behind its first clause, so that somebody
// who listens hears that while the rest is made: at the first comma, semicolon, colon or dash with
// a few words on either side. Without one it stays whole. Only white space is lost.
void CutFirstClause(std::vector<std::string_view>& units);

}  // namespace millrace::speech
