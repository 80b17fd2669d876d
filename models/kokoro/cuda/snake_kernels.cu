// The residual blocks of Kokoro's generator, and the norms of others, for NVRTC, behind
// models/speech/cuda/row_product.cu.

constexpr float kEpsilon = 1e-5F;

__device__ inline float Snake(float y) {
  const float sine = __sinf(y);
  return y + sine * sine;
}

// Writes the moments of rows in float32, as RowsOfChannels does. Blocks of (32, 8) threads; grid:
// tiles of kTransposedRows, channels / 64, batch.
extern "C" __global__ void RowMoments(const float2* rows, const float* counts, float* moments,
                                      int time, int channels) {
  __shared__ float sums[8][4][32];
  const int batch = blockIdx.z, pair = blockIdx.y * 32 + threadIdx.x;
  const int count = static_cast<int>(counts[batch]);
  const int first = blockIdx.x * kTransposedRows;
  const int end = min(first + kTransposedRows, count);
  float2 sum = make_float2(0, 0), squares = make_float2(0, 0);
  for (int t = first + threadIdx.y; t < end; t += 8) {
    const float2 value = rows[(static_cast<size_t>(batch) * time + t) * (channels / 2) + pair];
    sum.x += value.x;
    sum.y += value.y;
    squares.x += value.x * value.x;
    squares.y += value.y * value.y;
  }
  float(&own)[4][32] = sums[threadIdx.y];
  own[0][threadIdx.x] = sum.x;
  own[1][threadIdx.x] = sum.y;
  own[2][threadIdx.x] = squares.x;
  own[3][threadIdx.x] = squares.y;
  __syncthreads();
  if (threadIdx.y > 3) return;
  float total = 0;
  for (int j = 0; j < 8; ++j) total += sums[j][threadIdx.y][threadIdx.x];
  const size_t tile = static_cast<size_t>(batch) * gridDim.x + blockIdx.x;
  moments[(tile * 2 + threadIdx.y / 2) * channels + 2 * pair + threadIdx.y % 2] = total;
}

// Doubles the length of the leaky ReLU of the norm of rows in float32, by a transposed convolution
// with three taps of each channel by itself. weight: [3, channels]. Blocks of 256 threads; grid:
// time * channels / 512, batch.
extern "C" __global__ void DoubleLength(const float2* rows, const float* counts, const float* norm,
                                        float slope, const float* weight, const float* bias,
                                        float2* out, int time, int channels) {
  const int batch = blockIdx.y, pairs = channels / 2;
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int t = index / pairs, pair = index % pairs;
  const int count = static_cast<int>(counts[batch]);
  if (t >= count) return;
  const auto at = [&](const float* values) {
    return reinterpret_cast<const float2*>(values)[pair];
  };
  const float* const norms = norm + static_cast<size_t>(batch) * 2 * channels;
  const float2 scale = at(norms), shift = at(norms + channels);
  const auto read = [&](int row) {
    if (row >= count) return make_float2(0, 0);
    const float2 x = rows[(static_cast<size_t>(batch) * time + row) * pairs + pair];
    return make_float2(Leaky(x.x * scale.x + shift.x, slope),
                       Leaky(x.y * scale.y + shift.y, slope));
  };
  const float2 now = read(t), next = read(t + 1);
  const float2 before = at(weight), middle = at(weight + channels),
               after = at(weight + 2 * channels);
  const float2 more = at(bias);
  float2* const to = out + (static_cast<size_t>(batch) * time + t) * 2 * pairs + pair;
  to[0] = make_float2(middle.x * now.x + more.x, middle.y * now.y + more.y);
  to[pairs] = make_float2(after.x * now.x + before.x * next.x + more.x,
                          after.y * now.y + before.y * next.y + more.y);
}

// Adds the moments of all tiles, in one order, and turns them into the scale and the shift of each
// channel: norm [batch, 2, channels]. styles: of this layer, its scales and then its shifts, in a
// row of `stride` for each sentence. Blocks of (32, 8) threads; grid: channels / 32, batch.
extern "C" __global__ void FinishNorm(const float* moments, const float* styles, int stride,
                                      const float* counts, float* norm, int tiles, int channels) {
  __shared__ float sums[8][2][32];
  const int batch = blockIdx.y, channel = blockIdx.x * 32 + threadIdx.x;
  const float count = counts[batch];
  float sum = 0, squares = 0;
#pragma unroll 4
  for (int i = threadIdx.y; i < tiles; i += 8) {
    const float* const at = moments + (static_cast<size_t>(batch) * tiles + i) * 2 * channels;
    sum += at[channel];
    squares += at[channels + channel];
  }
  sums[threadIdx.y][0][threadIdx.x] = sum;
  sums[threadIdx.y][1][threadIdx.x] = squares;
  __syncthreads();
  if (threadIdx.y != 0) return;
  for (int j = 1; j < 8; ++j) {
    sum += sums[j][0][threadIdx.x];
    squares += sums[j][1][threadIdx.x];
  }
  const float mean = sum / count;
  const float variance = fmaxf(squares / count - mean * mean, 0.F);
  const float* const style = styles + static_cast<size_t>(batch) * stride;
  const float scale = style[channel] * rsqrtf(variance + kEpsilon);
  norm[static_cast<size_t>(batch) * 2 * channels + channel] = scale;
  norm[(static_cast<size_t>(batch) * 2 + 1) * channels + channel] =
      style[channels + channel] - mean * scale;
}

// snake(x * scale + shift), with the norm of FinishNorm.
struct SnakeActivation {
  const float* norm;  // [batch, 2, channels]
  alignas(16) float scale[8], shift[8];

  __device__ inline void Begin(int batch, int channel, int channels) {
    const float* const scales = norm + static_cast<size_t>(batch) * 2 * channels + channel;
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
      *reinterpret_cast<float4*>(scale + i) = *reinterpret_cast<const float4*>(scales + i);
      *reinterpret_cast<float4*>(shift + i) =
          *reinterpret_cast<const float4*>(scales + channels + i);
    }
  }
  __device__ inline float Run(float x, int i) const { return Snake(x * scale[i] + shift[i]); }
};

// A layer of a block: a convolution of the activated input. Large tiles for much work, and small
// ones so that little work still occupies the device.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    SnakeConvolution128(Product product, const float* norm) {
  Multiply<128, 128, false>(product, SnakeActivation{norm}, SameRows{});
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    SnakeConvolution64(Product product, const float* norm) {
  Multiply<64, 64, false>(product, SnakeActivation{norm}, SameRows{});
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
extern "C" __global__ void __launch_bounds__(kGroupThreads, 2)
    SnakeConvolutionGroups(Product product, const float* norm) {
  Multiply<128, 128, true>(product, SnakeActivation{norm}, SameRows{});
}
#endif
