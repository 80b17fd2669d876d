#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Returns one past the emoticon at `at`, such as ":D", ";-)" or ":smile:", which says nothing; 0 if
// there is none. Thread-safe; it looks a bounded number of bytes ahead.
size_t EmoticonEnd(std::string_view text, size_t at);

// Returns the end of `count` exclamation marks that end at `end`, with the ones that slipped in
// among them: "lol!!1!". Thread-safe.
size_t ShoutEnd(std::string_view text, size_t end, size_t count);

}  // namespace millrace::models
