#pragma once

#include <span>
#include <string>
#include <string_view>

namespace millrace {

// Returns ", did you mean X?" for the candidate that is the fewest edits away, or "" when none is
// near.
std::string Suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace millrace
