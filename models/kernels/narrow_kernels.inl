// The parts that the sets of narrow_kernels.h share. Included after the definition of
// MILLRACE_VECTOR_BYTES by files that are compiled without contraction, because a fused
// multiply-add would round differently between sets.

#include <cstdint>

#include "models/kernels/narrow_kernels.h"
#include "models/kernels/vector_math.inl"

namespace millrace::kernels {
namespace {

constexpr int32_t kMagnitude = 0x7FFFFFFF;  // all bits but the sign
constexpr int32_t kInfinity = 0x7F800000;
constexpr int64_t kHalfVectors = kNarrowHalf / kLanes;

inline Ints Bits(Floats v) {
  Ints bits;
  __builtin_memcpy(&bits, &v, sizeof(bits));
  return bits;
}

inline Floats FromBits(Ints bits) {
  Floats v;
  __builtin_memcpy(&v, &bits, sizeof(v));
  return v;
}

// Returns the bits of the greatest magnitude. Bits are in the order of the numbers; those of NaN
// are above infinity's.
inline int32_t TopMagnitude(const float* x, int64_t count) {
  Ints top = {};
  for (int64_t i = 0; i < count; i += kLanes) {
    const Ints magnitude = Bits(Load(x + i)) & kMagnitude;
    top = magnitude > top ? magnitude : top;
  }
  int32_t result = 0;
  for (int64_t i = 0; i < kLanes; ++i) result = top[i] > result ? top[i] : result;
  return result;
}

// kFlip: 0, or 0x80 for unsigned bytes that are 128 more than the number.
template <int kFlip>
void ConvertToInt8(const NarrowRows& r) {
  constexpr float kSmallest = 1e-30F;  // its reciprocal is finite
  using Bytes = int8_t __attribute__((vector_size(kLanes)));
  int32_t bits = 0;
  for (int64_t row = 0; r.together && row < r.rows; ++row) {
    const int32_t of_row = TopMagnitude(r.x + row * r.stride, r.inputs);
    bits = of_row > bits ? of_row : bits;
  }
  for (int64_t row = 0; row < r.rows; ++row) {
    const float* x = r.x + row * r.stride;
    unsigned char* out = r.out + row * r.depth;
    if (!r.together) bits = TopMagnitude(x, r.inputs);
    float top;
    __builtin_memcpy(&top, &bits, sizeof(top));
    int64_t done = 0;
    if (bits >= kInfinity) {
      r.scales[row] = __builtin_nanf("");
    } else if (top < kSmallest) {
      r.scales[row] = 0;
    } else {
      r.scales[row] = top / 127.0F;
      const Floats inverse = Broadcast(127.0F / top);
      // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer.
      const Floats magic = Broadcast(12582912.0F);
      for (; done < r.inputs; done += kLanes) {
        const Floats rounded = (Load(x + done) * inverse + magic) - magic;
        const Bytes bytes = __builtin_convertvector(__builtin_convertvector(rounded, Ints), Bytes) ^
                            static_cast<int8_t>(kFlip);
        __builtin_memcpy(out + done, &bytes, sizeof(bytes));
      }
    }
    __builtin_memset(out + done, kFlip, static_cast<size_t>(r.depth - done));
  }
}

// Rounds to nearest, ties to even. Sets of int8 alone do not use it.
[[maybe_unused]] void ConvertToBfloat(const NarrowRows& r) {
  using Halves = uint16_t __attribute__((vector_size(kLanes * sizeof(uint16_t))));
  using Words = uint32_t __attribute__((vector_size(MILLRACE_VECTOR_BYTES)));
  constexpr int64_t kBytes = 2;
  for (int64_t row = 0; row < r.rows; ++row) {
    const float* x = r.x + row * r.stride;
    unsigned char* out = r.out + row * r.depth;
    for (int64_t i = 0; i < r.inputs; i += kLanes) {
      const Ints bits = Bits(Load(x + i));
      const Words rounded = (Words)bits + 0x7FFFU + (((Words)bits >> 16) & 1U);
      // Rounding could turn NaN into something else.
      const Words kept = (bits & kMagnitude) > kInfinity ? (Words)bits | 0x400000U : rounded;
      const Halves halves = __builtin_convertvector(kept >> 16, Halves);
      __builtin_memcpy(out + i * kBytes, &halves, sizeof(halves));
    }
    __builtin_memset(out + r.inputs * kBytes, 0, static_cast<size_t>(r.depth - r.inputs * kBytes));
  }
}

// Returns the bytes of a column's inputs.
inline int64_t ColumnBytes(const NarrowProduct& p) { return p.taps * p.depth; }

// Writes the results of a row and half a panel from `column` on, from their sums.
inline void FinishInt8(const NarrowProduct& p, int64_t row, int64_t column, const Ints* sums) {
  const Floats a_scale = Broadcast(p.a_scales[row]);
  float* out = p.out + row * p.out_stride + column;
  for (int64_t v = 0; v < kHalfVectors; ++v) {
    const int64_t at = v * kLanes;
    const Floats scale = a_scale * Load(p.scales + column + at);
    Floats value = __builtin_convertvector(sums[v], Floats) * scale + Load(p.bias + column + at);
    if (p.added != nullptr) value += Load(p.added + row * p.out_stride + column + at);
    Store(out + at, value);
  }
}

}  // namespace
}  // namespace millrace::kernels
