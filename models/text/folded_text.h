#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// A text in which characters that are only written otherwise have their plain form: full-width
// letters, digits and signs are ASCII, subscript digits are digits, and invisible characters, such
// as soft hyphens, are left out.
struct FoldedText {
  std::string text;
  std::vector<size_t> origins;  // the byte of the source for each byte, and for the end
};

// Returns nullopt if the text is plain. Thread-safe; linear time.
std::optional<FoldedText> FoldText(std::string_view source);

}  // namespace millrace::models
