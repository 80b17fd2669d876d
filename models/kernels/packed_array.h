#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace millrace::kernels {

// An array that does not change any more: in memory of its own, or in that of a PackStore. Copies
// share it. Thread-safe.
template <typename T>
class PackedArray {
 public:
  PackedArray() = default;
  // Takes over an AlignedBuffer or a vector.
  template <typename Container>
  explicit PackedArray(Container packed) {
    const auto owner = std::make_shared<const Container>(std::move(packed));
    data_ = std::shared_ptr<const T>(owner, owner->data());
    size_ = owner->size();
  }
  PackedArray(std::shared_ptr<const T> data, size_t size) : data_(std::move(data)), size_(size) {}

  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  std::shared_ptr<const T> data_;
  size_t size_ = 0;
};

}  // namespace millrace::kernels
