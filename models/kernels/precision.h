#pragma once

#include <cstdint>

namespace millrace::kernels {

// Of the weights of linear layers and embeddings, and of what is multiplied with them. Sums,
// attention, norms and biases are of float32 always.
enum class Precision : uint8_t {
  kFloat32,
  kBfloat16,
  kInt8,  // weights with a scale for each output, activations with one for each row
};

}  // namespace millrace::kernels
