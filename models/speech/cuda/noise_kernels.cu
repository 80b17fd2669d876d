// Noise in one pass, for NVRTC, which has no headers.

__device__ inline float Uniform(Word word) {
  return (static_cast<float>(word >> 8) + 0.5F) * 0x1.0p-24F;
}

// The values of device_noise.cc's DrawNoise, or of DrawNoiseRows if rows, [batch], is not null;
// then count is a multiple of four. keys: [batch, 4], a word in each. out: [batch, count]. A thread
// draws four values. Grid: batch, count / 4 / threads of a block, rounded up.
extern "C" __global__ void DrawNoise(const long long* keys, const long long* rows, float* out,
                                     long long count) {
  const long long of_row = static_cast<long long>(blockIdx.y) * blockDim.x + threadIdx.x;
  const long long first = 4 * of_row;
  if (first >= count) return;
  const long long block = rows != nullptr ? rows[blockIdx.x] * (count / 4) + of_row : of_row;
  const long long* const key = keys + 4 * blockIdx.x;
  Word key0 = static_cast<Word>(key[0]), key1 = static_cast<Word>(key[1]);
  Word counter[4] = {static_cast<Word>(block), 0, static_cast<Word>(key[2]),
                     static_cast<Word>(key[3])};
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const Word high0 = __umulhi(counter[0], 0xD2511F53U), low0 = counter[0] * 0xD2511F53U;
    const Word high1 = __umulhi(counter[2], 0xCD9E8D57U), low1 = counter[2] * 0xCD9E8D57U;
    counter[0] = high1 ^ counter[1] ^ key0;
    counter[1] = low1;
    counter[2] = high0 ^ counter[3] ^ key1;
    counter[3] = low0;
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  float values[4];
#pragma unroll
  for (int pair = 0; pair < 2; ++pair) {
    const float radius = sqrtf(-2.F * logf(Uniform(counter[2 * pair])));
    const float angle = Uniform(counter[2 * pair + 1]) * 6.283185307179586F;
    values[2 * pair] = radius * cosf(angle);
    values[2 * pair + 1] = radius * sinf(angle);
  }
  float* const row = out + static_cast<size_t>(blockIdx.x) * count;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + i < count) row[first + i] = values[i];
  }
}
