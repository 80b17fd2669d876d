#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Returns the end of a fragment of a program that begins at a place, where a word begins, as it
// stands in sentences about programs: "for (int i = 0; i < n; i++)", "unsigned long *p", "let x =
// 5;", "import a as b"; 0 if there is none. Looks ahead a few hundred bytes at most.
size_t CodeFragmentEnd(std::string_view text, size_t at);

}  // namespace millrace::models
