#pragma once

#include <algorithm>
#include <cstdint>

#include "models/kernels/parallel_for.h"

namespace millrace::kernels {

// Calls body(first, last) for ranges that cover the panels 0 .. panels - 1 of a matrix, by
// ParallelFor where the product is worth it: columns do not depend on one another, so that results
// are the same bits. `products` is the number of multiplications of all panels.
template <typename Body>
void ForPanels(int64_t panels, int64_t products, const Body& body) {
  // The least products of a part: some tens of microseconds, many times what offering it costs.
  constexpr int64_t kLeast = int64_t{512} * 1024;
  // The parts of a thread, so that one that is late does not hold up the others.
  constexpr int64_t kPartsOfThread = 2;
  const int width = products < 2 * kLeast ? 1 : ParallelWidth();
  if (width == 1) {
    body(int64_t{0}, panels);
    return;
  }
  const int64_t parts = std::min({panels, products / kLeast, kPartsOfThread * width});
  ParallelFor(parts,
              [&](int64_t part) { body(panels * part / parts, panels * (part + 1) / parts); });
}

}  // namespace millrace::kernels
