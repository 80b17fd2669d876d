#pragma once

#include <cstdint>

namespace millrace::models {

// The shapes in which a model runs its forwards. A device keeps something for each shape: a
// captured graph or a compiled kernel.
enum class ShapePolicy : uint8_t {
  kExact,   // the shapes of the requests; for the CPU, which keeps nothing
  kPadded,  // padded to buckets, so that shapes recur
  kFew,     // padded to few buckets, all of which the warm-up runs, because a frozen cache or a
            // device that keeps each compiled shape takes no others
};

}  // namespace millrace::models
