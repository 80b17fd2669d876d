#pragma once

namespace millrace::models {

// Which English is spoken: it decides pronunciations, "and" in numbers, and the order of dates.
enum class EnglishDialect { kUs, kGb };

}  // namespace millrace::models
