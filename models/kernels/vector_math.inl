// Vectors of floats and the functions on them that kernels share, in the compiler's vector
// extension. Included only by files that are compiled for one instruction set, after the definition
// of MILLRACE_VECTOR_BYTES. Sums are taken in an order that depends on the length only.

#include <cstdint>

namespace millrace::kernels {
namespace {

constexpr int64_t kLanes = MILLRACE_VECTOR_BYTES / 4;
using Floats = float __attribute__((vector_size(MILLRACE_VECTOR_BYTES)));
using Ints = int32_t __attribute__((vector_size(MILLRACE_VECTOR_BYTES)));

// A typedef, since clang ignores the alignment in an alias declaration.
typedef float UnalignedFloats
    __attribute__((vector_size(MILLRACE_VECTOR_BYTES), aligned(sizeof(float)), may_alias));

// GCC would copy 16 bytes through other registers on arm64 if these used memcpy.
inline Floats Load(const float* p) { return *reinterpret_cast<const UnalignedFloats*>(p); }

inline void Store(float* p, Floats v) { *reinterpret_cast<UnalignedFloats*>(p) = v; }

// x - 0 is x bit for bit, so nothing is computed; 0 + x would be computed, because it turns -0 into
// 0.
inline Floats Broadcast(float x) { return x - Floats{}; }

inline Floats Max(Floats a, Floats b) { return a > b ? a : b; }

inline Floats Min(Floats a, Floats b) { return a < b ? a : b; }

// Moves the upper half of the first 16, 8, 4 or 2 lanes to the front.
#if MILLRACE_VECTOR_BYTES == 64
inline Floats Upper16(Floats v) {
  return __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
}
inline Floats Upper8(Floats v) {
  return __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3);
}
inline Floats Upper4(Floats v) {
  return __builtin_shufflevector(v, v, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1);
}
inline Floats Upper2(Floats v) {
  return __builtin_shufflevector(v, v, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0);
}
#elif MILLRACE_VECTOR_BYTES == 32
inline Floats Upper8(Floats v) { return __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3); }
inline Floats Upper4(Floats v) { return __builtin_shufflevector(v, v, 2, 3, 0, 1, 2, 3, 0, 1); }
inline Floats Upper2(Floats v) { return __builtin_shufflevector(v, v, 1, 0, 1, 0, 1, 0, 1, 0); }
#else
inline Floats Upper4(Floats v) { return __builtin_shufflevector(v, v, 2, 3, 0, 1); }
inline Floats Upper2(Floats v) { return __builtin_shufflevector(v, v, 1, 0, 1, 0); }
#endif

inline float Sum(Floats v) {
#if MILLRACE_VECTOR_BYTES == 64
  v += Upper16(v);
#endif
#if MILLRACE_VECTOR_BYTES >= 32
  v += Upper8(v);
#endif
  v += Upper4(v);
  v += Upper2(v);
  return v[0];
}

inline float Largest(Floats v) {
#if MILLRACE_VECTOR_BYTES == 64
  v = Max(v, Upper16(v));
#endif
#if MILLRACE_VECTOR_BYTES >= 32
  v = Max(v, Upper8(v));
#endif
  v = Max(v, Upper4(v));
  v = Max(v, Upper2(v));
  return v[0];
}

// Computes e^x within 2 units in the last place for -87 <= x <= 88. Beyond these ends the result is
// that of the end: near 0, or large but finite.
inline Floats Exp(Floats x) {
  x = Min(Max(x, Broadcast(-87.0F)), Broadcast(88.0F));
  // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer.
  const Floats magic = Broadcast(12582912.0F);
  const Floats n = (x * 1.44269504088896341F + magic) - magic;
  Floats r = x - n * 0.693359375F;  // ln 2 in two parts
  r = r - n * -2.12194440e-4F;
  Floats p = Broadcast(1.9875691500e-4F);
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  const Ints exponent = (__builtin_convertvector(n, Ints) + 127) << 23;
  Floats power;
  __builtin_memcpy(&power, &exponent, sizeof(power));
  return p * power;
}

// Turns rows of `padded` scores into weights, each row with the sum 1; weights beyond the length
// become 0. Several rows are done at once, because in one row each step would wait for the sum or
// the maximum before it.
template <int64_t kRows>
inline void SoftmaxRows(float* scores, int64_t length, int64_t padded) {
  Floats top[kRows];
  Floats total[kRows] = {};
  Floats inverse[kRows];
  for (int64_t row = 0; row < kRows; ++row) {
    float* own = scores + row * padded;
    for (int64_t i = length; i < padded; ++i) own[i] = -1e30F;
    Floats largest = Load(own);
    for (int64_t i = kLanes; i < padded; i += kLanes) largest = Max(largest, Load(own + i));
    top[row] = largest;
  }
  for (int64_t row = 0; row < kRows; ++row) top[row] = Broadcast(Largest(top[row]));
  for (int64_t i = 0; i < padded; i += kLanes) {
    for (int64_t row = 0; row < kRows; ++row) {
      float* at = scores + row * padded + i;
      const Floats weight = Exp(Load(at) - top[row]);
      total[row] += weight;
      Store(at, weight);
    }
  }
  for (int64_t row = 0; row < kRows; ++row) inverse[row] = Broadcast(1.0F / Sum(total[row]));
  for (int64_t row = 0; row < kRows; ++row) {
    float* own = scores + row * padded;
    for (int64_t i = 0; i < padded; i += kLanes) Store(own + i, Load(own + i) * inverse[row]);
  }
}

inline void Softmax(float* scores, int64_t length, int64_t padded) {
  SoftmaxRows<1>(scores, length, padded);
}

}  // namespace
}  // namespace millrace::kernels
