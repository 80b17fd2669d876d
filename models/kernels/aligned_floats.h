#pragma once

#include <cstddef>
#include <memory>

namespace millrace::kernels {

// Floats on a cache line boundary, zero at first. Growing loses the contents.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(size_t size) { Reserve(size); }

  void Reserve(size_t size);
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Deleter {
    void operator()(float* data) const;
  };
  std::unique_ptr<float[], Deleter> data_;
  size_t size_ = 0;
};

}  // namespace millrace::kernels
