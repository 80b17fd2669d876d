// The residual blocks of Kokoro's generator in half precision, for NVRTC, which has no headers:
// for compute capability 8.0 and later. Signals are rows, [batch, time, channels]. What lies at or
// beyond the number of rows that count is neither read nor, unless a kernel says so, written.

typedef unsigned int Word;  // two halves

constexpr int kChunk = 64;  // channels of the input at a time
constexpr int kThreads = 128;
constexpr int kGroupThreads = 256;  // two groups of four warps
constexpr int kWeightStages = 3;
constexpr int kTransposedRows = 128;
constexpr float kEpsilon = 1e-5F;

__device__ inline float2 ToFloats(Word halves) {
  float2 result;
  asm("{\n  .reg .f16 low, high;\n  mov.b32 {low, high}, %2;\n  cvt.f32.f16 %0, low;\n"
      "  cvt.f32.f16 %1, high;\n}\n"
      : "=f"(result.x), "=f"(result.y)
      : "r"(halves));
  return result;
}

__device__ inline Word ToHalves(float low, float high) {
  Word result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

__device__ inline unsigned SharedAddress(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Returns where the 16 bytes `piece` of a row of 128 bytes are: rows below each other differ in
// their banks.
__device__ inline unsigned Swizzled(int row, int piece) {
  return static_cast<unsigned>(row * kChunk * 2 + ((piece ^ (row & 7)) << 4));
}

__device__ inline void LoadMatrices(Word (&matrices)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(address));
}

__device__ inline void MultiplyAdd(float (&sum)[4], const Word (&a)[4], Word b0, Word b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
// Describes rows of kChunk halves from an address on, which are laid out as by Swizzled.
__device__ inline unsigned long long RowsAt(unsigned address) {
  constexpr unsigned long long kSwizzle128 = 1ULL << 62, kEightRows = 64ULL << 32;
  return kSwizzle128 | kEightRows | 1ULL << 16 | (address & 0x3FFFF) >> 4;
}

// Adds the product of 64 rows of A and 128 rows of B, of 16 halves each, for four warps.
__device__ inline void MultiplyAdd(float (&sums)[16][4], unsigned long long a,
                                   unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, 1, 1, 1, 0, 0;"
      : "+f"(sums[0][0]), "+f"(sums[0][1]), "+f"(sums[0][2]), "+f"(sums[0][3]), "+f"(sums[1][0]),
        "+f"(sums[1][1]), "+f"(sums[1][2]), "+f"(sums[1][3]), "+f"(sums[2][0]), "+f"(sums[2][1]),
        "+f"(sums[2][2]), "+f"(sums[2][3]), "+f"(sums[3][0]), "+f"(sums[3][1]), "+f"(sums[3][2]),
        "+f"(sums[3][3]), "+f"(sums[4][0]), "+f"(sums[4][1]), "+f"(sums[4][2]), "+f"(sums[4][3]),
        "+f"(sums[5][0]), "+f"(sums[5][1]), "+f"(sums[5][2]), "+f"(sums[5][3]), "+f"(sums[6][0]),
        "+f"(sums[6][1]), "+f"(sums[6][2]), "+f"(sums[6][3]), "+f"(sums[7][0]), "+f"(sums[7][1]),
        "+f"(sums[7][2]), "+f"(sums[7][3]), "+f"(sums[8][0]), "+f"(sums[8][1]), "+f"(sums[8][2]),
        "+f"(sums[8][3]), "+f"(sums[9][0]), "+f"(sums[9][1]), "+f"(sums[9][2]), "+f"(sums[9][3]),
        "+f"(sums[10][0]), "+f"(sums[10][1]), "+f"(sums[10][2]), "+f"(sums[10][3]),
        "+f"(sums[11][0]), "+f"(sums[11][1]), "+f"(sums[11][2]), "+f"(sums[11][3]),
        "+f"(sums[12][0]), "+f"(sums[12][1]), "+f"(sums[12][2]), "+f"(sums[12][3]),
        "+f"(sums[13][0]), "+f"(sums[13][1]), "+f"(sums[13][2]), "+f"(sums[13][3]),
        "+f"(sums[14][0]), "+f"(sums[14][1]), "+f"(sums[14][2]), "+f"(sums[14][3]),
        "+f"(sums[15][0]), "+f"(sums[15][1]), "+f"(sums[15][2]), "+f"(sums[15][3])
      : "l"(a), "l"(b));
}

__device__ inline void FenceSharedMemory() { asm volatile("fence.proxy.async.shared::cta;"); }
__device__ inline void BeginProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void CommitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
__device__ inline void AwaitProducts() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
#endif

__device__ inline void CopyAsync(unsigned to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes));
}

__device__ inline void CommitCopies() { asm volatile("cp.async.commit_group;"); }

template <int kLeft>
__device__ inline void AwaitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft));
}

__device__ inline float Snake(float y) {
  const float sine = __sinf(y);
  return y + sine * sine;
}

__device__ inline float Leaky(float x, float slope) { return x < 0 ? x * slope : x; }

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

// The input and the result of a product.
struct Product {
  const unsigned short* x;
  const unsigned short* weights;   // [in_channels / 64, taps, columns, 64]
  const float* bias;               // [channels]; may be null
  const float* counts;             // rows of the input that count
  const unsigned short* added[2];  // signals of the shape of the result to add; may be null
  unsigned short* out;
  float* moments;  // receives the sums of the result, laid out as by RowsOfChannels; may be null
  int in_time, in_channels, time, channels, taps, dilation;
};

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

// The leaky ReLU of x * factor.
struct LeakyActivation {
  float factor, slope;

  __device__ inline void Begin(int, int, int) {}
  __device__ inline float Run(float x, int) const { return Leaky(x * factor, slope); }
};

// Rows of a convolution that keeps the length, with zeros beyond both ends.
struct SameRows {
  __device__ inline int Products(int count) const { return count; }
  __device__ inline int FirstTap(int reach) const { return -reach / 2; }
  __device__ inline int Tiles() const { return 1; }
  __device__ inline int Tile(int) const { return 0; }
  __device__ inline int Channel(int column, int) const { return column; }
  __device__ inline int Count(int count) const { return count; }
  __device__ inline int Row(int row, int) const { return row; }
  __device__ inline int ReflectedRow(int) const { return -1; }
};

// Rows of a transposed convolution with two taps for each of `stride` results, as a product with
// the columns [stride, channels]: row i of it is made of the rows i - 1 and i of the input. `cut`
// results are cut off in front. With reflected == 1 the second of the rest is in front once more.
struct UpsampledRows {
  int stride, cut, reflected;

  __device__ inline int Products(int count) const { return count + 1; }
  __device__ inline int FirstTap(int) const { return -1; }
  __device__ inline int Tiles() const { return stride; }
  __device__ inline int Tile(int column) const { return column; }
  __device__ inline int Channel(int column, int channels) const { return column % channels; }
  __device__ inline int Count(int count) const { return count * stride + reflected; }
  // phase: column / channels.
  __device__ inline int Row(int row, int phase) const {
    const int at = row * stride + phase - cut;
    return at < 0 ? -1 : at + reflected;
  }
  // Returns the row of the product that becomes the second result in this phase, or -1.
  __device__ inline int ReflectedRow(int phase) const {
    const int at = 1 + cut;
    return reflected == 1 && phase == at % stride ? at / stride : -1;
  }
};

// An implicit matrix product: a block computes a tile of rows and columns of the result. For each
// 64 channels of the input it brings the rows that its taps reach into shared memory, activates
// them once, and lets each tap read them at its own distance. The next rows and weights are on
// their way meanwhile. Grid: tiles of rows, columns / kColumns, batch; shared memory: see
// SharedBytes in snake_operators.cc.
// With kGroups, groups of four warps multiply 64 rows straight from shared memory, as Hopper can.
template <int kRows, int kColumns, bool kGroups, typename Activation, typename Rows>
__device__ inline void Multiply(const Product& product, Activation activation, const Rows& map) {
  constexpr int kThreads = kGroups ? kGroupThreads : ::kThreads;
  constexpr int kWarpRows = kGroups ? 16 : kRows / 2;
  constexpr int kWarpColumns = kGroups ? kColumns : kColumns / 2;
  constexpr int kWarpsAcross = kColumns / kWarpColumns;
  constexpr int kWeightBytes = kColumns * kChunk * 2;
  constexpr int kRowBytes = kChunk * 2;
  constexpr int kResultBytes = kColumns * 2 + 16;  // a row has so many; the gap keeps banks apart
  constexpr int kResultPieces = kColumns / 8;      // a row has so many pieces of 16 bytes
  extern __shared__ __align__(1024) unsigned char shared[];
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  const int batch = blockIdx.z, channels = product.channels;
  const int count = static_cast<int>(product.counts[batch]);
  const int first_row = blockIdx.x * kRows;
  const int first_column = blockIdx.y * kColumns;
  const int phase = first_column / channels;
  const int first_channel = map.Channel(first_column, channels);
  float* moments = nullptr;
  if (product.moments != nullptr) {
    const size_t tile = (static_cast<size_t>(batch) * gridDim.x + blockIdx.x) * map.Tiles();
    moments = product.moments + (tile + map.Tile(phase)) * 2 * channels + first_channel;
  }
  if (first_row >= map.Products(count)) {
    if (moments == nullptr) return;
    for (int i = thread; i < 2 * kColumns; i += kThreads)
      moments[i / kColumns * channels + i % kColumns] = 0;
    return;
  }
  const int warp_row = warp / kWarpsAcross * kWarpRows;
  const int warp_column = warp % kWarpsAcross * kWarpColumns;
  const int taps = product.taps, reach = (taps - 1) * product.dilation;
  const int needed = kRows + reach;
  const int row_tile_bytes = (needed + 7) / 8 * 8 * kRowBytes;
  const int first_tap = first_row + map.FirstTap(reach);
  const int in_channels = product.in_channels, columns = gridDim.y * kColumns;
  const int chunks = in_channels / kChunk, steps = chunks * taps;
  const size_t sentence = static_cast<size_t>(batch) * product.in_time * in_channels;
  unsigned char* const row_tiles = shared + kWeightStages * kWeightBytes;
  const int piece = thread & 7;  // this thread copies these eight channels of its rows

  const auto copy_weights = [&](int step) {
    if (step >= steps) return;
    const unsigned short* const from =
        product.weights + (static_cast<size_t>(step) * columns + first_column) * kChunk;
    const unsigned to = SharedAddress(shared + step % kWeightStages * kWeightBytes);
#pragma unroll
    for (int i = 0; i < kWeightBytes / 16 / kThreads; ++i) {
      const int at = i * kThreads + thread;
      CopyAsync(to + Swizzled(at >> 3, at & 7), from + at * 8, 16);
    }
  };
  const auto copy_rows = [&](int chunk) {
    if (chunk >= chunks) return;
    const unsigned to = SharedAddress(row_tiles + (chunk & 1) * row_tile_bytes);
    for (int row = thread >> 3; row < needed; row += kThreads / 8) {
      const int t = first_tap + row;
      const bool counts_too = t >= 0 && t < count;
      const size_t at = sentence + static_cast<size_t>(counts_too ? t : 0) * in_channels;
      CopyAsync(to + Swizzled(row, piece), product.x + at + chunk * kChunk + piece * 8,
                counts_too ? 16 : 0);
    }
  };

  float sums[kWarpRows / 16][kWarpColumns / 8][4];
#pragma unroll
  for (auto& of_rows : sums)
#pragma unroll
    for (auto& of_columns : of_rows)
#pragma unroll
      for (float& sum : of_columns) sum = 0;

  copy_rows(0);
  copy_weights(0);
  CommitCopies();
  copy_weights(1);
  CommitCopies();
  int step = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    activation.Begin(batch, chunk * kChunk + piece * 8, in_channels);
    unsigned char* const rows = row_tiles + (chunk & 1) * row_tile_bytes;
    AwaitCopies<1>();  // a thread activates what it has copied itself
#pragma unroll 2
    for (int row = thread >> 3; row < needed; row += kThreads / 8) {
      const int t = first_tap + row;
      if (t < 0 || t >= count) continue;  // zeros
      uint4* const at = reinterpret_cast<uint4*>(rows + Swizzled(row, piece));
      uint4 halves = *at;
      Word* const words = reinterpret_cast<Word*>(&halves);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 pair = ToFloats(words[i]);
        words[i] = ToHalves(activation.Run(pair.x, 2 * i), activation.Run(pair.y, 2 * i + 1));
      }
      *at = halves;
    }
    for (int tap = 0; tap < taps; ++tap, ++step) {
      AwaitCopies<1>();
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
      if constexpr (kGroups) FenceSharedMemory();
#endif
      __syncthreads();  // the weights and the rows are there, and the stages before are free
      if (tap == 0) copy_rows(chunk + 1);
      copy_weights(step + 2);
      CommitCopies();
      const unsigned a_tile = SharedAddress(rows);
      const unsigned b_tile = SharedAddress(shared + step % kWeightStages * kWeightBytes);
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
      if constexpr (kGroups) {
        const int group_row = warp / 4 * 64 + tap * product.dilation;
        BeginProducts();
#pragma unroll
        for (int k = 0; k < kChunk / 16; ++k)
          MultiplyAdd(sums[0], RowsAt(a_tile + group_row * kRowBytes + k * 32),
                      RowsAt(b_tile + k * 32));
        CommitProducts();
        AwaitProducts();
        continue;
      }
#endif
      const int a_row = warp_row + tap * product.dilation + (lane & 15);
      const int b_row = warp_column + (lane & 7) + ((lane >> 4) << 3);
#pragma unroll
      for (int k = 0; k < kChunk / 16; ++k) {
        Word a[kWarpRows / 16][4];
#pragma unroll
        for (int i = 0; i < kWarpRows / 16; ++i)
          LoadMatrices(a[i], a_tile + Swizzled(a_row + i * 16, k * 2 + (lane >> 4)));
#pragma unroll
        for (int j = 0; j < kWarpColumns / 16; ++j) {
          Word b[4];
          LoadMatrices(b, b_tile + Swizzled(b_row + j * 16, k * 2 + ((lane >> 3) & 1)));
#pragma unroll
          for (int i = 0; i < kWarpRows / 16; ++i) {
            MultiplyAdd(sums[i][2 * j], a[i], b[0], b[1]);
            MultiplyAdd(sums[i][2 * j + 1], a[i], b[2], b[3]);
          }
        }
      }
    }
  }

  // Signals that are added come by way of shared memory and the result goes by it, so that memory
  // is read and written in whole pieces.
  AwaitCopies<0>();
  if constexpr (kGroups) __syncthreads();
  const int out_count = map.Count(count);
  const size_t out_sentence = static_cast<size_t>(batch) * product.time * channels;
  const size_t out_column = out_sentence + first_channel;
#pragma unroll
  for (int one = 0; one < 2; ++one) {
    const unsigned short* const added = product.added[one];
    if (added == nullptr) continue;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kRows * kResultPieces / kThreads; ++i) {
      const int row = (i * kThreads + thread) / kResultPieces, at = thread % kResultPieces;
      const int t = map.Row(first_row + row, phase);
      const bool counts_too = t >= 0 && t < out_count;
      CopyAsync(SharedAddress(shared + row * kResultBytes + at * 16),
                added + out_column + static_cast<size_t>(counts_too ? t : 0) * channels + at * 8,
                counts_too ? 16 : 0);
    }
    CommitCopies();
    AwaitCopies<0>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kWarpRows / 16; ++i)
#pragma unroll
      for (int j = 0; j < kWarpColumns / 8; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = warp_row + i * 16 + half * 8 + (lane >> 2);
          const int column = warp_column + j * 8 + (lane & 3) * 2;
          const float2 before =
              ToFloats(*reinterpret_cast<const Word*>(shared + row * kResultBytes + column * 2));
          sums[i][j][2 * half] += before.x;
          sums[i][j][2 * half + 1] += before.y;
        }
  }
  __syncthreads();
  float* const partial = reinterpret_cast<float*>(shared + kRows * kResultBytes);
#pragma unroll
  for (int j = 0; j < kWarpColumns / 8; ++j) {
    const int column = warp_column + j * 8 + (lane & 3) * 2;
    float2 more = make_float2(0, 0);
    if (product.bias != nullptr)
      more = *reinterpret_cast<const float2*>(product.bias + first_channel + column);
    float2 sum = make_float2(0, 0), squares = make_float2(0, 0);
#pragma unroll
    for (int i = 0; i < kWarpRows / 16; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = warp_row + i * 16 + half * 8 + (lane >> 2);
        const int t = map.Row(first_row + row, phase);
        Word rounded = ToHalves(sums[i][j][2 * half] + more.x, sums[i][j][2 * half + 1] + more.y);
        *reinterpret_cast<Word*>(shared + row * kResultBytes + column * 2) = rounded;
        float2 value = make_float2(0, 0);
        if (t >= 0 && t < out_count) value = ToFloats(rounded);
        sum.x += value.x;
        sum.y += value.y;
        squares.x += value.x * value.x;
        squares.y += value.y * value.y;
      }
    }
    if (moments == nullptr) continue;
#pragma unroll
    for (int distance = 4; distance < 32; distance *= 2) {
      sum.x += __shfl_xor_sync(0xffffffff, sum.x, distance);
      sum.y += __shfl_xor_sync(0xffffffff, sum.y, distance);
      squares.x += __shfl_xor_sync(0xffffffff, squares.x, distance);
      squares.y += __shfl_xor_sync(0xffffffff, squares.y, distance);
    }
    if (lane < 4) {
      float* const at = partial + warp / kWarpsAcross * 2 * kColumns + column;
      *reinterpret_cast<float2*>(at) = sum;
      *reinterpret_cast<float2*>(at + kColumns) = squares;
    }
  }
  __syncthreads();
  if (const int row = map.ReflectedRow(phase); first_row == 0 && row >= 0 && thread < kColumns) {
    // The row in front is that row with what is added in front.
    const size_t front = out_column + thread;
    const size_t back = front + static_cast<size_t>(map.Row(row, phase)) * channels;
    float value =
        ToFloats(reinterpret_cast<const unsigned short*>(shared + row * kResultBytes)[thread]).x;
#pragma unroll
    for (int one = 0; one < 2; ++one) {
      if (product.added[one] != nullptr) {
        value += ToFloats(product.added[one][front]).x - ToFloats(product.added[one][back]).x;
      }
    }
    const Word rounded = ToHalves(value, 0.F);
    product.out[front] = static_cast<unsigned short>(rounded);
    value = ToFloats(rounded).x;
    partial[thread] += value;
    partial[kColumns + thread] += value * value;
  }
#pragma unroll
  for (int i = 0; i < kRows * kResultPieces / kThreads; ++i) {
    const int row = (i * kThreads + thread) / kResultPieces, at = thread % kResultPieces;
    const int t = map.Row(first_row + row, phase);
    if (t < 0 || t >= out_count) continue;
    *reinterpret_cast<uint4*>(product.out + out_column + static_cast<size_t>(t) * channels +
                              at * 8) =
        *reinterpret_cast<const uint4*>(shared + row * kResultBytes + at * 16);
  }
  if (moments == nullptr) return;
  __syncthreads();
  for (int i = thread; i < 2 * kColumns; i += kThreads) {
    float sum = partial[i];
#pragma unroll
    for (int j = 1; j < kRows / kWarpRows; ++j) sum += partial[j * 2 * kColumns + i];
    moments[i / kColumns * channels + i % kColumns] = sum;
  }
}

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

extern "C" __global__ void __launch_bounds__(kGroupThreads, 2)
    UpsampleGroups(Product product, LeakyActivation activation, UpsampledRows map) {
  Multiply<128, 128, true>(product, activation, map);
}
#endif

// A transposed convolution of the leaky ReLU of the input.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    Upsample128(Product product, LeakyActivation activation, UpsampledRows map) {
  Multiply<128, 128, false>(product, activation, map);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    Upsample64(Product product, LeakyActivation activation, UpsampledRows map) {
  Multiply<64, 64, false>(product, activation, map);
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
