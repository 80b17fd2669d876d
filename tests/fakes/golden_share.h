#pragma once

#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

namespace millrace::testing {

// Returns every how many golden texts one is compared: 1, or the value of MILLRACE_GOLDEN_STRIDE,
// which runs under a slow instruction set have. Their kernels must give the same results, and a
// share of the texts shows it.
inline size_t GoldenStride() {
  const char* stride = std::getenv("MILLRACE_GOLDEN_STRIDE");
  const long value = stride == nullptr ? 1 : std::atol(stride);
  return value < 1 ? 1 : static_cast<size_t>(value);
}

// Keeps the first of `all`, and every GoldenStride()th after it.
template <typename T>
std::vector<T> GoldenShare(std::vector<T> all) {
  std::vector<T> share;
  for (size_t i = 0; i < all.size(); i += GoldenStride()) share.push_back(std::move(all[i]));
  return share;
}

}  // namespace millrace::testing
