#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace millrace::kernels {

// An array of numbers that is aligned to a cache line and owned by one object. As thread-safe as a
// raw array.
template <typename T>
class AlignedBuffer {
  static_assert(std::is_trivial_v<T>);

 public:
  static constexpr std::align_val_t kAlignment{64};

  AlignedBuffer() = default;
  // The numbers are not initialised.
  explicit AlignedBuffer(size_t size)
      : data_(static_cast<T*>(::operator new(size * sizeof(T), kAlignment))), size_(size) {}
  static AlignedBuffer Zeros(size_t size) {
    AlignedBuffer zeros(size);
    std::fill_n(zeros.data(), size, T{});
    return zeros;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* data) const { ::operator delete(data, kAlignment); }
  };

  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};

}  // namespace millrace::kernels
