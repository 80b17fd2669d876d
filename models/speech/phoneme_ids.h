#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::speech {

// A symbol of a phoneme string and its ids.
struct PhonemeSymbol {
  size_t begin = 0;  // bytes of the string
  size_t end = 0;
  size_t first_id = 0;  // indexes into PhonemeIds::ids
  size_t end_id = 0;

  friend bool operator==(const PhonemeSymbol&, const PhonemeSymbol&) = default;
};

// The input of a network for a phoneme string.
struct PhonemeIds {
  std::vector<int64_t> ids;
  std::vector<PhonemeSymbol> symbols;  // the symbols that the voice knows, in order
};

}  // namespace millrace::speech
