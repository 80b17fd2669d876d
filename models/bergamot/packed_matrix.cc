#include "models/bergamot/packed_matrix.h"

#include <cstddef>

namespace millrace::bergamot {

int32_t Correction(const int8_t* values, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += values[i];
  return 128 * sum;
}

PackedMatrix::PackedMatrix(const std::vector<const LinearWeights*>& parts)
    : inputs_(parts.front()->matrix.inputs) {
  for (const LinearWeights* part : parts) outputs_ += part->matrix.outputs;
  const auto outputs = static_cast<size_t>(outputs_);
  values_ = kernels::AlignedBuffer<int8_t>(outputs * static_cast<size_t>(inputs_));
  corrections_ = kernels::AlignedBuffer<int32_t>(outputs);
  scales_ = kernels::AlignedBuffer<float>(outputs);
  bias_ = kernels::AlignedBuffer<float>(outputs);
  int64_t column = 0;
  for (const LinearWeights* part : parts) {
    Append(*part, column);
    column += part->matrix.outputs;
  }
}

void PackedMatrix::Append(const LinearWeights& part, int64_t first_column) {
  for (int64_t output = 0; output < part.matrix.outputs; ++output) {
    const int8_t* row = part.matrix.values + output * inputs_;
    const int64_t column = first_column + output;
    int8_t* panel = values_.data() + column / kernels::kPanel * kernels::kPanel * inputs_ +
                    column % kernels::kPanel * kernels::kGroup;
    for (int64_t k = 0; k < inputs_; ++k) {
      panel[k / kernels::kGroup * kernels::kGroup * kernels::kPanel + k % kernels::kGroup] = row[k];
    }
    const auto at = static_cast<size_t>(column);
    corrections_[at] = Correction(row, inputs_);
    scales_[at] = 1.0F / part.matrix.multiplier;
    bias_[at] = part.bias.empty() ? 0.0F : part.bias[static_cast<size_t>(output)];
  }
}

kernels::PackedView PackedMatrix::view() const {
  return {values_.data(), corrections_.data(), scales_.data(), bias_.data(), inputs_, outputs_,
          outputs_};
}

}  // namespace millrace::bergamot
