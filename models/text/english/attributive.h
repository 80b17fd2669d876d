#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// These functions judge an amount by the words around it. Thread-safe; they look a bounded number
// of bytes ahead.

// Returns true if the text goes on at `at` with a noun, to which an amount before it belongs: "a $5
// bill", "a 10m (32ft) passage".
bool NounFollows(std::string_view text, size_t at);
// Returns true if it goes on with a noun that has an amount before it, one or many: "100m sprint",
// "£10 notes", "500mg tablets".
bool MeasuredFollows(std::string_view text, size_t at);
// Returns true if the text goes on with the plural of things that are counted: "2010 units".
bool PluralFollows(std::string_view text, size_t at);
// Returns true if a number of four digits after the word, in lower case, is rather a year.
bool PrecedesYear(std::string_view word);
// Returns true if the text goes on with what is rated: "9/10 stars".
bool RatesBehind(std::string_view text, size_t at);

}  // namespace millrace::models
