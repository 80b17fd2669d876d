#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "models/text/unicode.h"

namespace millrace::models {

// The letters that a front end reads, and how it refuses others.
struct ReadLetters {
  bool (*reads)(char32_t letter);  // called with letters that are not ASCII
  std::string_view refusal;        // behind the name of the script, such as ", which is not read"
};

// Returns InvalidAt of bytes that are not UTF-8, or of a letter of a script that ForeignScript
// names and that is not read; Greek and Latin letters are left to the front end. `point` is what
// the text has at the byte. Thread-safe.
absl::Status CheckCharacter(std::string_view text, size_t at, const CodePoint& point,
                            const ReadLetters& letters);

// Checks each character of a text. Linear time.
absl::Status CheckCharacters(std::string_view text, const ReadLetters& letters);

}  // namespace millrace::models
