#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::translation {

// Returns true if a text is `fewest` words or more side by side that are no sentence: there are no
// signs, and no articles, prepositions or other words of grammar. Keywords and menus that lost
// their separators are such.
bool IsWordList(std::string_view text, size_t fewest);

// Returns true if the translation of such a list has fewer words, or one of them once more.
bool LacksListedWords(std::string_view source, std::string_view target);

}  // namespace millrace::translation
