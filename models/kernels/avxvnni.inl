// The parts that the sets with AVX-VNNI share. Included by files that are compiled with its flags.

#include <immintrin.h>

namespace millrace::kernels {
namespace {

// Adds the products of four unsigned bytes with four signed ones to each sum. Works in place,
// unlike the intrinsic, with which GCC 12 copies the sums before and spills them after.
inline void MultiplyAdd(__m256i& sums, __m256i activations, __m256i weights) {
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(activations), "x"(weights));
}

}  // namespace
}  // namespace millrace::kernels
