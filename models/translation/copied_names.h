#pragma once

#include <string_view>
#include <vector>

namespace millrace::translation {

// Returns the names of a text that are written alike in all languages, because of a capital, a
// digit, a stop or a sign inside: FooBar, F5, key.name, x++. Ordinals and amounts are none, nor are
// words in capitals. Linear time.
std::vector<std::string_view> CopiedNames(std::string_view text);

// Returns those that a translation lacks, as views into the source.
std::vector<std::string_view> LostNames(std::string_view source, std::string_view target);

}  // namespace millrace::translation
