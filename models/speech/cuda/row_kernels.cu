// Kernels on rows in half precision, for NVRTC, behind models/speech/cuda/row_product.cu.

// Converts x, [batch, channels, time] in float32, to rows. Writes the sums and the sums of squares
// of each tile of rows to moments [batch, tiles, 2, channels], zeros for those beyond the end, as
// the kernels below do. Blocks of (32, 8) threads; grid: tiles of kTransposedRows, channels / 32,
// batch.
extern "C" __global__ void RowsOfChannels(const float* x, const float* counts, unsigned short* rows,
                                          float* moments, int time, int channels) {
  __shared__ float tile[32][33];
  __shared__ float sums[8][2][32];
  const int batch = blockIdx.z, channel = blockIdx.y * 32 + threadIdx.x;
  const int count = static_cast<int>(counts[batch]);
  float sum = 0, squares = 0;
  for (int part = 0; part < kTransposedRows; part += 32) {
    const int first = blockIdx.x * kTransposedRows + part;
    if (first >= count) break;
    for (int j = threadIdx.y; j < 32; j += 8) {
      const int t = first + threadIdx.x;
      const size_t row = static_cast<size_t>(batch) * channels + blockIdx.y * 32 + j;
      tile[j][threadIdx.x] = t < count ? x[row * time + t] : 0.F;
    }
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8) {
      const int t = first + j;
      if (t >= count) continue;
      const Word rounded = ToHalves(tile[threadIdx.x][j], 0.F);
      rows[(static_cast<size_t>(batch) * time + t) * channels + channel] =
          static_cast<unsigned short>(rounded);
      const float value = ToFloats(rounded).x;
      sum += value;
      squares += value * value;
    }
    __syncthreads();
  }
  sums[threadIdx.y][0][threadIdx.x] = sum;
  sums[threadIdx.y][1][threadIdx.x] = squares;
  __syncthreads();
  if (threadIdx.y > 1) return;
  float total = 0;
  for (int j = 0; j < 8; ++j) total += sums[j][threadIdx.y][threadIdx.x];
  const size_t tile_index = static_cast<size_t>(batch) * gridDim.x + blockIdx.x;
  moments[(tile_index * 2 + threadIdx.y) * channels + channel] = total;
}

// Large tiles for much work, and small ones so that little work still occupies the device. Hopper
// multiplies large ones in groups of four warps.
#define DEFINE_KERNEL(name, threads, blocks, Map, tile, ...)       \
  extern "C" __global__ void __launch_bounds__(threads, blocks)    \
      name(Product product, LeakyActivation activation, Map map) { \
    Multiply<tile, tile, __VA_ARGS__>(product, activation, map);   \
  }
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define DEFINE_GROUPS(name, Map, ...) \
  DEFINE_KERNEL(name##Groups, kGroupThreads, 2, Map, 128, true, ##__VA_ARGS__)
#else
#define DEFINE_GROUPS(name, Map, ...)
#endif
#define DEFINE_TILED(name, Map, ...)                                    \
  DEFINE_KERNEL(name##128, kThreads, 2, Map, 128, false, ##__VA_ARGS__) \
  DEFINE_KERNEL(name##64, kThreads, 4, Map, 64, false, ##__VA_ARGS__)   \
  DEFINE_GROUPS(name, Map, ##__VA_ARGS__)

// A transposed convolution of the leaky ReLU of the input.
DEFINE_TILED(Upsample, UpsampledRows)
// The same with the rows in the gaps of a mask zeroed, and a convolution that keeps the length;
// those with Split in their names have split results, and split inputs unless they begin to split.
DEFINE_TILED(MaskedUpsample, MaskedUpsampledRows)
DEFINE_TILED(SplittingUpsample, MaskedUpsampledRows, false, true)
DEFINE_TILED(SplitUpsample, MaskedUpsampledRows, true, true)
DEFINE_TILED(MaskedConvolution, MaskedSameRows)
DEFINE_TILED(SplitConvolution, MaskedSameRows, true, true)

// The gates of split rows, [time, 2 * channels]: the hyperbolic tangent of the first half of the
// channels times the logistic function of the second. Grid: pieces of eight values / threads
// rounded up.
extern "C" __global__ void GateRows(const unsigned short* rows, unsigned short* out, int time,
                                    int channels) {
  const int pieces = channels / 8, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= time * pieces) return;
  const int row = i / pieces, piece = i % pieces;
  const int place = piece / kSplitPieces * kChunk + piece % kSplitPieces * 8;
  constexpr int kLow = 8 * kSplitPieces;  // the smaller parts are so far behind the greater ones
  float values[2][8];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const unsigned short* const from =
        rows + static_cast<size_t>(row) * 4 * channels + half * 2 * channels + place;
    const uint4 high = *reinterpret_cast<const uint4*>(from);
    const uint4 low = *reinterpret_cast<const uint4*>(from + kLow);
    const Word highs[4] = {high.x, high.y, high.z, high.w};
    const Word lows[4] = {low.x, low.y, low.z, low.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float2 a = ToFloats(highs[j]), b = ToFloats(lows[j]);
      values[half][2 * j] = a.x + b.x;
      values[half][2 * j + 1] = a.y + b.y;
    }
  }
  Word highs[4], lows[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    float gated[2];
#pragma unroll
    for (int k = 0; k < 2; ++k)
      gated[k] = tanhf(values[0][2 * j + k]) / (1 + expf(-values[1][2 * j + k]));
    highs[j] = ToHalves(gated[0], gated[1]);
    lows[j] = Rest(make_float2(gated[0], gated[1]), highs[j]);
  }
  unsigned short* const to = out + static_cast<size_t>(row) * 2 * channels + place;
  *reinterpret_cast<uint4*>(to) = make_uint4(highs[0], highs[1], highs[2], highs[3]);
  *reinterpret_cast<uint4*>(to + kLow) = make_uint4(lows[0], lows[1], lows[2], lows[3]);
}

// The leaky ReLU of rows * factor as [batch, channels, time] in float32, with zeros beyond the end.
// Blocks of (32, 8) threads; grid: time / 32 rounded up, channels / 32, batch.
extern "C" __global__ void ChannelsOfRows(const unsigned short* rows, const float* counts,
                                          LeakyActivation activation, float* out, int time,
                                          int channels) {
  __shared__ float tile[32][33];
  const int batch = blockIdx.z, first = blockIdx.x * 32, channel = blockIdx.y * 32 + threadIdx.x;
  const int count = static_cast<int>(counts[batch]);
  for (int j = threadIdx.y; j < 32; j += 8) {
    const int t = first + j;
    float value = 0;
    if (t < count) {
      const size_t at = (static_cast<size_t>(batch) * time + t) * channels + channel;
      value = activation.Run(ToFloats(rows[at]).x, 0);
    }
    tile[j][threadIdx.x] = value;
  }
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8) {
    const int t = first + threadIdx.x;
    const size_t row = static_cast<size_t>(batch) * channels + blockIdx.y * 32 + j;
    if (t < time) out[row * time + t] = tile[threadIdx.x][j];
  }
}

// The samples of rows: the hyperbolic tangent of a convolution of the leaky ReLU of rows * factor
// to one channel, with zeros beyond both ends. weight: [taps, channels], which may be fewer than a
// row has, a multiple of 8. bias may be null. split: the rows are. Blocks of any threads; grid:
// time / threads rounded up; shared memory: the weight.
extern "C" __global__ void SamplesOfRows(const unsigned short* rows, LeakyActivation activation,
                                         const float* weight, const float* bias, int split,
                                         float* out, int time, int pitch, int channels, int taps) {
  extern __shared__ __align__(16) float weights[];
  for (int i = threadIdx.x; i < taps * channels; i += blockDim.x) weights[i] = weight[i];
  __syncthreads();
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= time) return;
  constexpr int kSplit = 8 * kSplitPieces;
  float sum = bias == nullptr ? 0.F : bias[0];
  for (int tap = 0; tap < taps; ++tap) {
    const int row = t + tap - taps / 2;
    if (row < 0 || row >= time) continue;
    const unsigned short* const from = rows + static_cast<size_t>(row) * pitch;
    for (int channel = 0; channel < channels; channel += 8) {
      const int place = split != 0 ? channel + channel / kSplit * kSplit : channel;
      const uint4 high = *reinterpret_cast<const uint4*>(from + place);
      uint4 low = make_uint4(0, 0, 0, 0);
      if (split != 0) low = *reinterpret_cast<const uint4*>(from + place + kSplit);
      const Word highs[4] = {high.x, high.y, high.z, high.w};
      const Word lows[4] = {low.x, low.y, low.z, low.w};
      const float* const at = weights + tap * channels + channel;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 a = ToFloats(highs[i]), b = ToFloats(lows[i]);
        sum +=
            activation.Run(a.x + b.x, 0) * at[2 * i] + activation.Run(a.y + b.y, 0) * at[2 * i + 1];
      }
    }
  }
  out[t] = tanhf(sum);
}
