#pragma once

#include <cstddef>
#include <cstdint>

#include "models/kernels/aligned_buffer.h"

namespace millrace::kernels {

// Grows to what a pass needs and stays so large. One thread at a time.
class Scratch {
 public:
  // At least that many floats; what was there before is lost.
  float* Take(int64_t floats) {
    if (buffer_.size() < static_cast<size_t>(floats))
      buffer_ = AlignedBuffer<float>(static_cast<size_t>(floats));
    return buffer_.data();
  }

  size_t floats() const { return buffer_.size(); }

 private:
  AlignedBuffer<float> buffer_;
};

}  // namespace millrace::kernels
