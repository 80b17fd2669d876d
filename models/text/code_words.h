#pragma once

#include <string_view>

namespace millrace::models {

// Words of programs: code_words.txt, whose comment says in which forms they stand. Thread-safe.
// Returns the forms of a word, between spaces; empty if it is none.
std::string_view CodeFormsOf(std::string_view word);
bool IsCodeWord(std::string_view word, std::string_view form);

}  // namespace millrace::models
