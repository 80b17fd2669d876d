// Products of few rows, for NVRTC, which has no headers: for compute capability 8.0 and later. The
// text follows that of decoder_kernels.cu.

constexpr int kFewRows = 8;       // rows of a product with few rows
constexpr int kTile = 16;         // columns of the result that a warp computes at a time
constexpr int kProductWarps = 8;  // a block has so many
constexpr int kBatch = 128;       // values of a row of weights that a warp reads at a time
constexpr int kRowGap = 32;       // halves between rows in shared memory, to keep banks apart
static_assert(kFewRows == kProductWarps, "a warp brings one row into shared memory");

// Reads weights, which are not read again before the caches are full of others.
__device__ inline uint4 ReadOnce(const Half* from) {
  uint4 result;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(result.x), "=r"(result.y), "=r"(result.z), "=r"(result.w)
               : "l"(from));
  return result;
}

// Brings 128 bytes that are read later into the L2 cache.
__device__ inline void Prefetch(const Half* from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

__device__ inline void MultiplyAdd(float (&sum)[4], Word a0, Word a1, Word a2, Word a3, Word b0,
                                   Word b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

struct FewRowsProduct {
  const Half* x;         // [rows, inputs]
  LayerNorm norm;        // the rows are normalized, if it has a scale
  Half* normed;          // null, or receives that norm
  const Half* weights;   // [columns, inputs]
  const Half* bias;      // [columns], or null
  const Half* residual;  // [rows, columns], or null
  void* out;             // [rows, columns]: float32 if bias is null
  int rows, inputs, columns;
  int activation;  // 0: none, 1: ReLU, 2: swish
  int warps;       // so many share a tile, each with a part of the inputs
};

// The shared memory of a product of few rows: partial sums, the rows, and what their norm needs.
struct FewRowsMemory {
  float4* partial;
  Half* rows;
  Half* norm;  // the scales, then the biases
};

__device__ inline void LoadNorm(const FewRowsProduct& product, Half* norm) {
  const int pieces = product.inputs / 8;
  for (int i = threadIdx.x; i < 2 * pieces; i += 32 * kProductWarps) {
    const Half* const from = i < pieces ? product.norm.scale : product.norm.bias - product.inputs;
    *reinterpret_cast<uint4*>(norm + i * 8) = Read(from + i * 8);
  }
}

// Brings the rows into shared memory, with zeros for those that are missing.
__device__ inline void LoadRows(const FewRowsProduct& product, Half* rows) {
  const int pieces = product.inputs / 8;
#pragma unroll 4
  for (int i = threadIdx.x; i < kFewRows * pieces; i += 32 * kProductWarps) {
    const int row = i / pieces, at = i % pieces * 8;
    *reinterpret_cast<uint4*>(rows + row * (product.inputs + kRowGap) + at) =
        row < product.rows ? Read(product.x + static_cast<size_t>(row) * product.inputs + at)
                           : make_uint4(0, 0, 0, 0);
  }
}

// The same for rows that are normalized. A warp has one row.
__device__ inline void LoadNormedRows(const FewRowsProduct& product, const FewRowsMemory& memory) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, inputs = product.inputs;
  Half* const to = memory.rows + warp * (inputs + kRowGap);
  const size_t at = static_cast<size_t>(warp) * inputs;
  const bool has_row = warp < product.rows;
  float sum = 0;
#pragma unroll 4
  for (int i = lane * 8; i < inputs; i += 256) {
    const uint4 halves = has_row ? Read(product.x + at + i) : make_uint4(0, 0, 0, 0);
    *reinterpret_cast<uint4*>(to + i) = halves;
    float values[8];
    ToFloats(halves, values);
#pragma unroll
    for (const float value : values) sum += value;
  }
  if (!has_row) return;
  const float mean = SumOfWarp(sum) / inputs;
  float squares = 0;
  for (int i = lane * 8; i < inputs; i += 256) {
    float values[8];
    ToFloats(Read(to + i), values);
#pragma unroll
    for (const float value : values) squares += (value - mean) * (value - mean);
  }
  const float factor = rsqrtf(SumOfWarp(squares) / inputs + product.norm.epsilon);
  for (int i = lane * 8; i < inputs; i += 256) {
    float values[8], scale[8], bias[8];
    ToFloats(Read(to + i), values);
    ToFloats(Read(memory.norm + i), scale);
    ToFloats(Read(memory.norm + inputs + i), bias);
#pragma unroll
    for (int j = 0; j < 8; ++j) values[j] = (values[j] - mean) * factor * scale[j] + bias[j];
    const uint4 halves = ToHalves(values);
    *reinterpret_cast<uint4*>(to + i) = halves;
    if (product.normed != nullptr && blockIdx.x == 0)
      *reinterpret_cast<uint4*>(product.normed + at + i) = halves;
  }
}

// The addends of a lane's sums of a tile, whose columns are lane / 4 and eight more, and whose rows
// are lane % 4 * 2 and the next.
struct TileAddends {
  Half bias[2] = {}, residual[4] = {};

  __device__ static inline int Column(int tile, int i) {
    return tile * kTile + threadIdx.x % 32 / 4 + i / 2 * 8;
  }
  __device__ static inline int Row(int i) { return threadIdx.x % 4 * 2 + i % 2; }
  __device__ inline void ReadBias(const FewRowsProduct& product, int tile) {
    if (product.bias == nullptr) return;
#pragma unroll
    for (int i = 0; i < 2; ++i) bias[i] = product.bias[Column(tile, 2 * i)];
  }
  __device__ inline void ReadResidual(const FewRowsProduct& product, int tile) {
    if (product.residual == nullptr) return;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (Row(i) < product.rows)
        residual[i] =
            product.residual[static_cast<size_t>(Row(i)) * product.columns + Column(tile, i)];
    }
  }
};

// Finishes the sums of a tile.
__device__ inline void WriteTile(const FewRowsProduct& product, int tile,
                                 const TileAddends& addends, const float (&sums)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (TileAddends::Row(i) >= product.rows) continue;
    const size_t at =
        static_cast<size_t>(TileAddends::Row(i)) * product.columns + TileAddends::Column(tile, i);
    float value = sums[i];
    if (product.bias == nullptr) {
      static_cast<float*>(product.out)[at] = value;
      continue;
    }
    value += ToFloats(addends.bias[i / 2]).x;
    if (product.activation == 1) value = value < 0 ? 0 : value;
    if (product.activation == 2) value = value / (1 + __expf(-value));
    value += ToFloats(addends.residual[i]).x;
    static_cast<Half*>(product.out)[at] = static_cast<Half>(ToHalves(value, 0));
  }
}

// A product of up to kFewRows rows, which takes the time that it takes to read the weights. The
// weights are the first factor of the tensor cores' product, and the order of the inputs within 32
// is that in which both factors are read. Blocks of kProductWarps warps: any number of them if a
// tile is a warp's own, else as many as cover the tiles.
extern "C" __global__ void __launch_bounds__(32 * kProductWarps, 2)
    MultiplyFewRows(FewRowsProduct product) {
  extern __shared__ __align__(16) unsigned char shared[];
  FewRowsMemory memory;
  memory.partial = reinterpret_cast<float4*>(shared);
  memory.rows = reinterpret_cast<Half*>(memory.partial + 32 * kProductWarps);
  memory.norm = memory.rows + kFewRows * (product.inputs + kRowGap);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int inputs = product.inputs, warps = product.warps, part = warp % warps;
  const int tiles = product.columns / kTile;
  const int step = gridDim.x * (kProductWarps / warps);
  const int first_tile = blockIdx.x * (kProductWarps / warps) + warp / warps;
  const int begin = part * (inputs / warps), end = begin + inputs / warps;
  uint4 low[kBatch / 32], high[kBatch / 32];
  const auto read_weights = [&](int tile, int at) {
    if (tile >= tiles) return;
    const Half* const from =
        product.weights + static_cast<size_t>(tile * kTile + lane / 4) * inputs + at + lane % 4 * 8;
#pragma unroll
    for (int i = 0; i < kBatch / 32; ++i) {
      low[i] = ReadOnce(from + i * 32);
      high[i] = ReadOnce(from + static_cast<size_t>(8) * inputs + i * 32);
    }
  };
  // Weights are on their way while the kernel in front still runs and rows are normalized.
  read_weights(first_tile, begin);
  const bool finishes = warps > 1 && part == 0 && first_tile < tiles;
  TileAddends addends;
  if (finishes) addends.ReadBias(product, first_tile);
  const bool has_norm = product.norm.scale != nullptr;
  if (has_norm) LoadNorm(product, memory.norm);
  if (warps > 1 && first_tile < tiles) {
    for (int line = kBatch / 64 * kTile + lane; line < (end - begin) / 64 * kTile; line += 32)
      Prefetch(product.weights + static_cast<size_t>(first_tile * kTile + line % kTile) * inputs +
               begin + line / kTile * 64);
  }
  AwaitEarlierKernels();
  if (finishes) addends.ReadResidual(product, first_tile);
  if (has_norm) {
    __syncthreads();
    LoadNormedRows(product, memory);
  } else {
    LoadRows(product, memory.rows);
  }
  __syncthreads();
  const Half* const x = memory.rows + lane / 4 * (inputs + kRowGap) + lane % 4 * 8;
  float sums[2][4] = {};
  for (int tile = first_tile; tile < tiles; tile += step) {
    for (int at = begin; at < end; at += kBatch) {
      uint4 a_low[kBatch / 32], a_high[kBatch / 32];
#pragma unroll
      for (int i = 0; i < kBatch / 32; ++i) {
        a_low[i] = low[i];
        a_high[i] = high[i];
      }
      if (at + kBatch < end) {
        read_weights(tile, at + kBatch);
      } else {
        read_weights(tile + step, begin);
      }
#pragma unroll
      for (int i = 0; i < kBatch / 32; ++i) {
        const uint4 b = Read(x + at + i * 32);
        MultiplyAdd(sums[0], a_low[i].x, a_high[i].x, a_low[i].y, a_high[i].y, b.x, b.y);
        MultiplyAdd(sums[1], a_low[i].z, a_high[i].z, a_low[i].w, a_high[i].w, b.z, b.w);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[0][i] += sums[1][i];
    if (warps > 1) break;
    addends.ReadBias(product, tile);
    addends.ReadResidual(product, tile);
    WriteTile(product, tile, addends, sums[0]);
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[0][i] = sums[1][i] = 0;
  }
  if (warps == 1) return;
  memory.partial[threadIdx.x] = make_float4(sums[0][0], sums[0][1], sums[0][2], sums[0][3]);
  __syncthreads();
  if (!finishes) return;
  for (int i = 1; i < warps; ++i) {
    const float4 more = memory.partial[threadIdx.x + i * 32];
    sums[0][0] += more.x;
    sums[0][1] += more.y;
    sums[0][2] += more.z;
    sums[0][3] += more.w;
  }
  WriteTile(product, first_tile, addends, sums[0]);
}
