#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace::server {

// Returns a translation of a format string of printf that takes the arguments of its source. Where
// the translation has them in another order, they are numbered (%2$s) if `may_number` is true.
// Returns nothing if it takes other arguments, or cannot be made to take these.
std::optional<std::string> WithArgumentsOf(std::string_view source, std::string_view translation,
                                           bool may_number);

}  // namespace millrace::server
