#include "models/bergamot/shortlist.h"

#include <bit>
#include <cstddef>

namespace millrace::bergamot {

std::vector<int32_t> Shortlist::Candidates(std::span<const int32_t> source) const {
  constexpr size_t kBits = 64;
  std::vector<uint64_t> chosen((static_cast<size_t>(tokens_) + kBits - 1) / kBits);
  size_t count = 0;
  const auto choose = [&](int32_t token) {
    uint64_t& bits = chosen[static_cast<size_t>(token) / kBits];
    const uint64_t bit = uint64_t{1} << (static_cast<size_t>(token) % kBits);
    count += (bits & bit) == 0;
    bits |= bit;
  };
  for (int32_t token = 0; token < weights_.first; ++token) choose(token);
  for (const int32_t token : source) {
    const auto index = static_cast<size_t>(token);
    for (int32_t i = weights_.offsets[index]; i < weights_.offsets[index + 1]; ++i) {
      choose(weights_.ids[static_cast<size_t>(i)]);
    }
  }
  std::vector<int32_t> tokens;
  tokens.reserve(count);
  for (size_t block = 0; block < chosen.size(); ++block) {
    for (uint64_t bits = chosen[block]; bits != 0; bits &= bits - 1) {
      tokens.push_back(static_cast<int32_t>(block * kBits) + std::countr_zero(bits));
    }
  }
  return tokens;
}

}  // namespace millrace::bergamot
