#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <vector>

namespace millrace::testing {

// Reads an array of a golden file: the number of values, and the values. Returns false at the end.
template <typename T>
bool ReadArray(std::istream& stream, std::vector<T>& values) {
  int64_t count = 0;
  if (!stream.read(reinterpret_cast<char*>(&count), sizeof(count))) return false;
  values.resize(static_cast<size_t>(count));
  stream.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(T)));
  return static_cast<bool>(stream);
}

// Returns infinity if there is not one value for each.
inline float GreatestDifference(const std::vector<float>& expected,
                                const std::vector<float>& actual) {
  if (actual.size() != expected.size()) return std::numeric_limits<float>::infinity();
  float greatest = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    greatest = std::max(greatest, std::abs(expected[i] - actual[i]));
  return greatest;
}

}  // namespace millrace::testing
