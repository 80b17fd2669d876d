#pragma once

namespace millrace::models {

// The dialect of English, which decides pronunciations, "and" in numbers, and the order of dates.
enum class EnglishDialect { kUs, kGb };

}  // namespace millrace::models
