#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a web address, a domain or an e-mail address that begins at `at`, the first byte after
// white space: "example dot com slash a". The scheme is not spoken. Thread-safe; looks at most
// kMaxWebBytes ahead.
std::optional<Reading> ReadWeb(const NumberWords& numbers, std::string_view text, size_t at);

inline constexpr size_t kMaxWebBytes = 2048;

}  // namespace millrace::models
