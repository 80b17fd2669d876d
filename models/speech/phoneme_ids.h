#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::speech {

// A symbol of a phoneme string, and the numbers that stand for it.
struct PhonemeSymbol {
  size_t begin = 0;  // bytes of the string
  size_t end = 0;
  size_t first_id = 0;  // indexes into PhonemeIds::ids
  size_t end_id = 0;

  friend bool operator==(const PhonemeSymbol&, const PhonemeSymbol&) = default;
};

// What a network reads of a phoneme string.
struct PhonemeIds {
  std::vector<int64_t> ids;
  std::vector<PhonemeSymbol> symbols;  // those that the voice knows, in order
};

}  // namespace millrace::speech
