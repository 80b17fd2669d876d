#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Returns one past the emoticon at `at`, such as ":D", ";-)" or ":smile:", which says nothing; 0 if
// there is none. Thread-safe; it looks a bounded number of bytes ahead.
size_t EmoticonEnd(std::string_view text, size_t at);

}  // namespace millrace::models
