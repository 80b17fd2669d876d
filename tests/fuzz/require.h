#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace millrace {

// Ends the process, which the fuzzer takes for a failure of its input, unless the property holds.
inline void Require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace millrace
