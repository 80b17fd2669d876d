#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/placed_text.h"

namespace millrace::models {

// A Japanese text as the dictionary reads it best: in Unicode's form NFKC, without digits, with
// full-width Latin letters, and with single spaces.
struct PreparedText : PlacedText {
  // Characters whose pronunciation is known already, such as a number and its counter.
  struct Reading {
    size_t begin = 0;
    size_t end = 0;
    std::u32string pronunciation;  // katakana and spaces
  };

  std::vector<Reading> readings;  // in order, without overlap
};

// Writes numbers, dates, times, sums of money, measures and ranges out. Returns InvalidArgument,
// naming the character and its byte, for letters of scripts that Japanese does not use.
// Thread-safe; linear time.
absl::StatusOr<PreparedText> PrepareJapanese(std::string_view source);

// Returns the error that PrepareJapanese has for the text, at a fraction of its cost.
absl::Status CheckJapanese(std::string_view source);

}  // namespace millrace::models
