#include "models/kernels/aligned_floats.h"

#include <algorithm>
#include <new>

namespace millrace::kernels {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

void AlignedFloats::Deleter::operator()(float* data) const { operator delete[](data, kAlignment); }

void AlignedFloats::Reserve(size_t size) {
  if (size <= size_) return;
  data_.reset();
  data_.reset(static_cast<float*>(operator new[](size * sizeof(float), kAlignment)));
  size_ = size;
  std::fill_n(data_.get(), size, 0.0F);
}

}  // namespace millrace::kernels
