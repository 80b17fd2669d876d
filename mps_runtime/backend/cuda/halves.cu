// Halves and floats, for NVRTC, which has no headers. The texts of all kernels follow this one.

typedef unsigned int Word;  // two halves

__device__ inline float2 ToFloats(Word halves) {
  float2 result;
  asm("{\n  .reg .f16 low, high;\n  mov.b32 {low, high}, %2;\n  cvt.f32.f16 %0, low;\n"
      "  cvt.f32.f16 %1, high;\n}\n"
      : "=f"(result.x), "=f"(result.y)
      : "r"(halves));
  return result;
}

// For compute capability 8.0 and later.
__device__ inline Word ToHalves(float low, float high) {
  Word result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
