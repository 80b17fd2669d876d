#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace {

using FormMembers = std::vector<std::pair<std::string, std::string>>;

// The members of a body of application/x-www-form-urlencoded, in order; a name may come several
// times. What is not well encoded stays as it is.
FormMembers ParseForm(std::string_view body);

// Decodes bytes such as %20. What is not well encoded stays as it is.
std::string DecodePercent(std::string_view text);

// Returns true for a body of that type.
bool IsEncodedForm(std::string_view content_type);

}  // namespace millrace
