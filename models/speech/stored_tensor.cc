#include "models/speech/stored_tensor.h"

#include <ATen/ops/clone.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace::speech {
namespace {

// Codes that are decoded at once: the compiler makes vectors of a loop of a fixed length.
constexpr int64_t kBlock = 16;

void Decode(const uint8_t* codes, int64_t count, int zero_point, float scale, float* to) {
  const auto value = [=](uint8_t code) { return static_cast<float>(code - zero_point) * scale; };
  for (; count >= kBlock; count -= kBlock, codes += kBlock, to += kBlock) {
    // In an array of its own, because `to` might lie where the codes do.
    std::array<float, kBlock> values;
    for (size_t i = 0; i < values.size(); ++i) values[i] = value(codes[i]);
    std::ranges::copy(values, to);
  }
  for (int64_t i = 0; i < count; ++i) to[i] = value(codes[i]);
}

}  // namespace

at::Tensor StoredTensor::Floats() const {
  if (!scales_.defined()) return stored_;
  at::Tensor floats = at::empty(stored_.sizes(), at::kFloat);
  const auto* codes = stored_.const_data_ptr<uint8_t>();
  const auto* const scales = scales_.const_data_ptr<float>();
  const auto* const zero_points = zero_points_.const_data_ptr<uint8_t>();
  auto* to = floats.mutable_data_ptr<float>();
  const int64_t rows = scales_.numel();
  const int64_t columns = floats.numel() / rows;
  for (int64_t row = 0; row < rows; ++row, codes += columns, to += columns)
    Decode(codes, columns, zero_points[row], scales[row], to);
  return floats;
}

StoredTensor StoredTensor::Copy() const {
  if (!scales_.defined()) return stored_.clone();
  return {stored_.clone(), scales_.clone(), zero_points_.clone()};
}

}  // namespace millrace::speech
