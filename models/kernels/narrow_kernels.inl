// The parts that the sets of narrow_kernels.h share. Included after the definition of
// MILLRACE_VECTOR_BYTES by files that are compiled without contraction, because a fused
// multiply-add would round differently between sets.

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

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

inline Ints Greater(Ints a, Ints b) { return a > b ? a : b; }

// Raises each lane of `top` to the bits of the greatest magnitude among its numbers. Bits are in
// the order of the numbers; those of NaN are above infinity's.
inline void UpdateTop(const float* x, int64_t count, Ints& top) {
  for (int64_t i = 0; i < count; i += kLanes) top = Greater(Bits(Load(x + i)) & kMagnitude, top);
}

inline int32_t Greatest(Ints v) {
#if MILLRACE_VECTOR_BYTES == 64
  v = Greater(v, Bits(Upper16(FromBits(v))));
#endif
#if MILLRACE_VECTOR_BYTES >= 32
  v = Greater(v, Bits(Upper8(FromBits(v))));
#endif
  v = Greater(v, Bits(Upper4(FromBits(v))));
  v = Greater(v, Bits(Upper2(FromBits(v))));
  return v[0];
}

// The scale of rounded numbers, and what numbers are multiplied by before they are rounded.
struct RowScale {
  float scale = 0;
  float inverse = 0;

  // top: the bits of the greatest magnitude.
  static RowScale Of(int32_t top) {
    constexpr float kSmallest = 1e-30F;  // its reciprocal is finite
    if (top >= kInfinity) return {__builtin_nanf(""), 0};
    float magnitude;
    __builtin_memcpy(&magnitude, &top, sizeof(magnitude));
    if (magnitude < kSmallest) return {};
    return {magnitude / 127.0F, 127.0F / magnitude};
  }
};

// Stores the low bytes of 16 numbers. GCC 12 converts such vectors number by number, so this is
// written for each set of instructions.
inline void StoreLowBytes(const Ints (&numbers)[kHalfVectors], unsigned char* out) {
#if MILLRACE_VECTOR_BYTES == 64
  _mm512_mask_cvtepi32_storeu_epi8(out, 0xFFFF, (__m512i)numbers[0]);
#elif MILLRACE_VECTOR_BYTES == 32
  const Ints mask = Ints{} + 0xFF;
  const __m256i words =
      _mm256_packus_epi32((__m256i)(numbers[0] & mask), (__m256i)(numbers[1] & mask));
  // Each half has four bytes of the first vector, then four of the second.
  const __m256i bytes = _mm256_packus_epi16(words, words);
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(out),
      _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)));
#elif defined(__ARM_NEON)
  const auto words = [&](int64_t v) { return vmovn_s32((int32x4_t)numbers[v]); };
  vst1q_s8(reinterpret_cast<int8_t*>(out),
           vcombine_s8(vmovn_s16(vcombine_s16(words(0), words(1))),
                       vmovn_s16(vcombine_s16(words(2), words(3)))));
#else
  for (int64_t v = 0; v < kHalfVectors; ++v) {
    for (int64_t i = 0; i < kLanes; ++i)
      out[v * kLanes + i] = static_cast<unsigned char>(numbers[v][i]);
  }
#endif
}

// kFlip: 0, or 0x80 for unsigned bytes that are 128 more than the number.
template <int kFlip>
void ConvertToInt8(const NarrowRows& r) {
  RowScale scale;
  if (r.together) {
    Ints top = {};
    for (int64_t row = 0; row < r.rows; ++row) UpdateTop(r.x + row * r.stride, r.inputs, top);
    scale = RowScale::Of(Greatest(top));
  }
  // Adding 1.5 * 2^23 rounds to the nearest integer, which the low byte then holds.
  const Floats magic = Broadcast(12582912.0F + static_cast<float>(kFlip));
  const float* x = r.x;
  unsigned char* out = r.out;
  for (int64_t row = 0; row < r.rows; ++row, x += r.stride, out += r.depth) {
    if (!r.together) {
      Ints top = {};
      UpdateTop(x, r.inputs, top);
      scale = RowScale::Of(Greatest(top));
    }
    r.scales[row] = scale.scale;
    const Floats inverse = Broadcast(scale.inverse);
    int64_t i = 0;
    for (; i < r.inputs; i += 16) {
      Ints rounded[kHalfVectors];
      for (int64_t v = 0; v < kHalfVectors; ++v)
        rounded[v] = Bits(Load(x + i + v * kLanes) * inverse + magic);
      StoreLowBytes(rounded, out + i);
    }
    for (; i < r.depth; i += 16) __builtin_memset(out + i, kFlip, 16);
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

// Finishes kRows rows and kVectors vectors of columns, from `row` and `column` on, from their sums.
// Each step is done for all of them before the next, so that a tile asks once which steps there
// are: the sums of a convolution with few inputs take hardly longer than these.
template <typename Sum, int kRows, int kVectors>
inline __attribute__((always_inline)) void FinishInt8(const NarrowProduct& p, int64_t row,
                                                      int64_t column,
                                                      const Sum (&sums)[kRows][kVectors]) {
  Floats values[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int64_t of_column = column + v * kLanes;
      const Floats scale = p.a_scales[row + r] * Load(p.scales + of_column);
      values[r][v] =
          __builtin_convertvector((Ints)sums[r][v], Floats) * scale + Load(p.bias + of_column);
    }
  }
  const int64_t stride = p.out_stride;
  const int64_t first = row * stride + column;
  // Calls step(value, its place in `out`).
  const auto for_each = [&](const auto& step) __attribute__((always_inline)) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) step(values[r][v], first + r * stride + v * kLanes);
    }
  };
  for (const float* more : {p.added, p.partial}) {
    if (more != nullptr) for_each([&](Floats& value, int64_t at) { value += Load(more + at); });
  }
  if (p.out_scale != 1.0F) for_each([&](Floats& value, int64_t) { value *= p.out_scale; });
  if (float* const out = p.out; out != nullptr)
    for_each([&](Floats& value, int64_t at) { Store(out + at, value); });
  if (float* const active = p.active; active != nullptr) {
    const float slope = p.slope;
    for_each([&](Floats& value, int64_t at) { Store(active + at, Max(value, value * slope)); });
  }
}

}  // namespace
}  // namespace millrace::kernels
