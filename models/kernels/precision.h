#pragma once

#include <cstdint>

namespace millrace::kernels {

// The precision of the weights of linear layers and embeddings, and of their inputs. Sums,
// attention, norms and biases are always float32.
enum class Precision : uint8_t {
  kFloat32,
  kBfloat16,
  kInt8,  // weights with a scale for each output, activations with one for each row
};

}  // namespace millrace::kernels
