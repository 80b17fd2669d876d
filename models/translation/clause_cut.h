#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace millrace::translation {

// Returns the byte at which to divide a sentence that is too long, between `least` and `most`:
// behind a semicolon, colon, dash or comma, or before a conjunction of the language (BCP 47). The
// stronger boundary wins, then that nearer to the middle of the range; 0 if there is none. Linear
// time.
size_t FindClauseCut(std::string_view text, size_t least, size_t most, std::string_view language);

// Returns the beginning of a word between `least` and `most` that is nearest to their middle; 0 if
// there is none.
size_t FindWordCut(std::string_view text, size_t least, size_t most);

// Returns the parts of a text between the words that join the items of a list, such as "and" and
// "or", as views into it; none if those of the language are not known. Linear time.
std::vector<std::string_view> PartsBetweenJoints(std::string_view text, std::string_view language);

// Returns true if the first word of a text is a conjunction of the language.
bool BeginsWithConjunction(std::string_view text, std::string_view language);

}  // namespace millrace::translation
