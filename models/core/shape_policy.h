#pragma once

#include <cstdint>

namespace millrace::models {

// The shapes in which a model runs its forwards. A device keeps something for each shape: a
// captured graph, or a compiled kernel.
enum class ShapePolicy : uint8_t {
  kExact,   // those of the requests; for the CPU, which keeps nothing
  kPadded,  // padded to buckets, so that shapes come again
  kFew,     // padded to few buckets, all of which the warm-up runs, because a frozen cache or a
            // device that compiles each shape for ever takes no others
};

}  // namespace millrace::models
