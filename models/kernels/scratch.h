#pragma once

#include <cstddef>
#include <cstdint>

#include "models/kernels/aligned_buffer.h"

namespace millrace::kernels {

// A buffer that grows to the size that is needed and never shrinks. One thread at a time.
class Scratch {
 public:
  // Returns at least that many floats; earlier contents are lost.
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
