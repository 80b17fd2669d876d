#define MILLRACE_VECTOR_BYTES 16
#include "models/kernels/integer_kernels.inl"

namespace millrace::kernels {
namespace {

inline int16_t RoundToEven(float x) {
  // Rounds as in Exp: exact for |x| < 2^22.
  constexpr float kMagic = 12582912.0F;
  return static_cast<int16_t>((x + kMagic) - kMagic);
}

void Quantise(const float* x, int64_t rows, const Activations& out) {
  for (int64_t row = 0; row < rows; ++row, x += out.inputs) {
    const RowScale scale = ScaleOf(x, out.inputs);
    out.scales[row] = scale.scale;
    auto* q = reinterpret_cast<int16_t*>(out.values) + row * out.inputs;
    for (int64_t i = 0; i < out.inputs; ++i) q[i] = RoundToEven(x[i] * scale.inverse);
  }
}

void Multiply(const Activations& a, int64_t rows, const PackedView& m, bool relu, float* out) {
  for (int64_t panel = 0; panel < m.outputs / kPanel; ++panel) {
    const int8_t* weights = m.values + panel * kPanel * m.inputs;
    for (int64_t row = 0; row < rows; ++row) {
      const int16_t* q = reinterpret_cast<const int16_t*>(a.values) + row * m.inputs;
      float total[kPanel] = {};
      for (int64_t begin = 0; begin < m.inputs; begin += kMaxExactSum) {
        const int64_t end = begin + kMaxExactSum < m.inputs ? begin + kMaxExactSum : m.inputs;
        int32_t sums[kPanel] = {};
        for (int64_t k = begin; k < end; k += kGroup) {
          const int8_t* group = weights + k * kPanel;
          for (int64_t n = 0; n < kPanel; ++n) {
            sums[n] += q[k] * group[4 * n] + q[k + 1] * group[4 * n + 1] +
                       q[k + 2] * group[4 * n + 2] + q[k + 3] * group[4 * n + 3];
          }
        }
        for (int64_t n = 0; n < kPanel; ++n) total[n] += static_cast<float>(sums[n]);
      }
      for (int64_t n = 0; n < kPanel; ++n) {
        const int64_t column = panel * kPanel + n;
        const float result = total[n] * (m.scales[column] * a.scales[row]) + m.bias[column];
        out[row * m.out_stride + column] = relu && result < 0 ? 0 : result;
      }
    }
  }
}

void Logits(const LogitsArgs& a) {
  const auto* q = reinterpret_cast<const int16_t*>(a.activation);
  for (int64_t i = 0; i < a.count; ++i) {
    const int8_t* row = a.matrix + a.rows[i] * a.inputs;
    int32_t sum = 0;
    for (int64_t k = 0; k < a.inputs; ++k) sum += q[k] * row[k];
    a.out[i] = static_cast<float>(sum) * a.scale + a.bias[i];
  }
}

}  // namespace

const IntegerKernels kPortableInteger = {"portable", Target::kPortable, Quantise, Multiply, Logits,
                                         Attend,     AddNorm,           Ssru};

}  // namespace millrace::kernels
