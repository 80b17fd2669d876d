#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Returns the end of the tag of HTML at `at`, "<b>", "</p>" or "<br/>", which is silent; `at` if
// there is none. Thread-safe; looks a bounded number of bytes ahead.
size_t HtmlTagEnd(std::string_view text, size_t at);

}  // namespace millrace::models
