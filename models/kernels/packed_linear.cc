#include "models/kernels/packed_linear.h"

#include "models/kernels/target.h"

namespace millrace::kernels {
namespace {

using Packed = std::variant<PackedFloats, PackedNarrow>;

Packed Pack(std::span<const FloatLinear> layers, const LinearKernels& kernels) {
  if (kernels.precision == Precision::kFloat32) return PackedFloats(layers);
  return PackedNarrow(layers, kernels.precision, kernels.narrow->clips_pairs);
}

}  // namespace

bool IsNative(Precision precision) {
  return precision != Precision::kBfloat16 || CanRun(Target::kAvx512Bf16);
}

LinearKernels LinearKernels::For(Precision precision) {
  LinearKernels best{.floats = *SupportedFloatKernels().front(), .precision = precision};
  if (precision == Precision::kInt8) best.narrow = SupportedInt8Kernels().front();
  if (precision == Precision::kBfloat16) best.narrow = SupportedBfloatKernels().front();
  return best;
}

PackedLinear::PackedLinear(std::span<const FloatLinear> layers, const LinearKernels& kernels)
    : kernels_(kernels), packed_(Pack(layers, kernels)) {}

int64_t PackedLinear::inputs() const {
  return std::visit([](const auto& packed) { return packed.inputs(); }, packed_);
}

int64_t PackedLinear::width() const {
  return std::visit([](const auto& packed) { return packed.width(); }, packed_);
}

void PackedLinear::Multiply(const float* a, int64_t a_stride, int64_t rows, Scratch& scratch,
                            float* out) const {
  if (const auto* floats = std::get_if<PackedFloats>(&packed_)) {
    floats->Multiply(kernels_.floats, a, a_stride, rows, out);
  } else {
    std::get<PackedNarrow>(packed_).Multiply(*kernels_.narrow, a, a_stride, rows, scratch, out);
  }
}

void PackedLinear::CopyOutput(int64_t output, float* out) const {
  std::visit([&](const auto& packed) { packed.CopyOutput(output, out); }, packed_);
}

}  // namespace millrace::kernels
