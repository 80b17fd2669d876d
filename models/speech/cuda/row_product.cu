// Implicit matrix products of rows in half precision, which kernels of several kinds are made of,
// for NVRTC, which has no headers, and compute capability 8.0 and later. The texts of those kernels
// follow this one. Signals are rows, [batch, time, channels]. What lies at or beyond the number of
// rows that count is neither read nor, unless a kernel says so, written.

constexpr int kChunk = 64;  // channels of the input at a time
constexpr int kThreads = 128;
constexpr int kGroupThreads = 256;  // two groups of four warps
constexpr int kWeightStages = 3;
constexpr int kTransposedRows = 128;

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

__device__ inline float Leaky(float x, float slope) { return x < 0 ? x * slope : x; }

// The input and the result of a product.
struct Product {
  const unsigned short* x;
  const unsigned short* weights;   // [in_channels / 64, taps, columns, 64]
  const float* bias;               // [channels]; may be null
  const float* counts;             // rows of the input that count; null: all
  const unsigned short* added[2];  // signals of the shape of the result to add; may be null
  unsigned short* out;
  float* moments;  // receives the sums of the result, laid out as by RowsOfChannels; may be null
  int in_time, in_channels, time, channels, taps, dilation;
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
  __device__ inline bool Keeps(int) const { return true; }
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
  __device__ inline bool Keeps(int) const { return true; }
};

// Where each value of a mask stands for `times` rows of the result: where it is 0, the row is 0.
struct RowMask {
  const float* mask;
  int times, rows;

  __device__ inline bool Keeps(int row) const {
    return row < 0 || row >= rows || mask[row / times] != 0;
  }
};
struct MaskedSameRows : SameRows {
  RowMask mask;

  __device__ inline bool Keeps(int row) const { return mask.Keeps(row); }
};
struct MaskedUpsampledRows : UpsampledRows {
  RowMask mask;

  __device__ inline bool Keeps(int row) const { return mask.Keeps(row); }
};

constexpr int kSplitPieces = 4;  // pieces of eight halves, behind which are those to add to them

// Returns what halves leave of values.
__device__ inline Word Rest(float2 values, Word halves) {
  const float2 kept = ToFloats(halves);
  return ToHalves(values.x - kept.x, values.y - kept.y);
}

// Activates eight values, each the sum of two halves.
template <typename Activation>
__device__ inline void ActivateSplit(const Activation& activation, uint4& high, uint4& low) {
  Word* const highs = reinterpret_cast<Word*>(&high);
  Word* const lows = reinterpret_cast<Word*>(&low);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 a = ToFloats(highs[i]), b = ToFloats(lows[i]);
    const float2 active =
        make_float2(activation.Run(a.x + b.x, 2 * i), activation.Run(a.y + b.y, 2 * i + 1));
    highs[i] = ToHalves(active.x, active.y);
    lows[i] = Rest(active, highs[i]);
  }
}

// An implicit matrix product: a block computes a tile of rows and columns of the result. For each
// 64 channels of the input it brings the rows that its taps reach into shared memory, activates
// them once, and lets each tap read them at its own distance. The next rows and weights are on
// their way meanwhile. Grid: tiles of rows, columns / kColumns, batch; shared memory: see
// RowKernels::SharedBytes.
// With kGroups, groups of four warps multiply 64 rows straight from shared memory, as Hopper can.
// With kSplitIn and kSplitOut the input and the result have each value as the sum of two halves, 32
// of them before the 32 that are added to them, and so do the columns of the weights.
template <int kRows, int kColumns, bool kGroups, bool kSplitIn = false, bool kSplitOut = false,
          typename Activation, typename Rows>
__device__ inline void Multiply(const Product& product, Activation activation, const Rows& map) {
  constexpr int kThreads = kGroups ? kGroupThreads : ::kThreads;
  constexpr int kWarpRows = kGroups ? 16 : kSplitOut ? kRows / 4 : kRows / 2;
  constexpr int kWarpColumns = kGroups || kSplitOut ? kColumns : kColumns / 2;
  constexpr int kWarpsAcross = kColumns / kWarpColumns;
  constexpr int kWeightBytes = kColumns * kChunk * 2;
  constexpr int kRowBytes = kChunk * 2;
  constexpr int kResultBytes = kColumns * 2 + 16;  // a row has so many; the gap keeps banks apart
  constexpr int kResultPieces = kColumns / 8;      // a row has so many pieces of 16 bytes
  extern __shared__ __align__(1024) unsigned char shared[];
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  const int batch = blockIdx.z, channels = product.channels;
  const int count =
      product.counts == nullptr ? product.in_time : static_cast<int>(product.counts[batch]);
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
    // A thread activates what it has copied itself, or others of its warp have. With one tap the
    // rows were among the last copies.
    if (taps == 1) {
      AwaitCopies<0>();
    } else {
      AwaitCopies<1>();
    }
    if constexpr (kSplitIn) __syncwarp();
#pragma unroll 2
    for (int row = thread >> 3; row < needed; row += kThreads / 8) {
      const int t = first_tap + row;
      if (t < 0 || t >= count) continue;  // zeros
      uint4* const at = reinterpret_cast<uint4*>(rows + Swizzled(row, piece));
      if constexpr (kSplitIn) {
        if (piece < kSplitPieces)
          ActivateSplit(activation, *at,
                        *reinterpret_cast<uint4*>(rows + Swizzled(row, piece + kSplitPieces)));
        continue;
      }
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
    if (kSplitOut && (j & kSplitPieces) != 0) continue;
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
        float2 result =
            make_float2(sums[i][j][2 * half] + more.x, sums[i][j][2 * half + 1] + more.y);
        if constexpr (kSplitOut) {
          result.x += sums[i][j | kSplitPieces][2 * half];
          result.y += sums[i][j | kSplitPieces][2 * half + 1];
        }
        if (!map.Keeps(t)) result = make_float2(0, 0);
        const Word rounded = ToHalves(result.x, result.y);
        Word* const to = reinterpret_cast<Word*>(shared + row * kResultBytes + column * 2);
        *to = rounded;
        if constexpr (kSplitOut) to[4 * kSplitPieces] = Rest(result, rounded);
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
