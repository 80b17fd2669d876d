// A decoder's step in half precision with sums in float32, for NVRTC, which has no headers: for
// compute capability 8.0 and later. Tensors are contiguous rows, and their sizes are multiples of
// those that WhyNot in decoder_operators.cc demands.

typedef unsigned short Half;

constexpr int kHeadSize = 64;
constexpr int kKeyLanes = 8;      // threads that share a key, 16 bytes each
constexpr int kKeys = 4;          // keys that such threads read at a time
constexpr int kFewRows = 8;       // rows of a product with few rows
constexpr int kTile = 16;         // columns of the result that a warp computes at a time
constexpr int kProductWarps = 8;  // a block has so many
constexpr int kBatch = 128;       // values of a row of weights that a warp reads at a time
constexpr int kRowGap = 32;       // halves between rows in shared memory, to keep banks apart
constexpr int kChoiceThreads = 256;
constexpr int kScoreReads = 4;  // a thread reads so many times four scores at a time
constexpr float kLowest = -1e30F;
constexpr unsigned kAll = 0xffffffff;
static_assert(kFewRows == kProductWarps, "a warp brings one row into shared memory");

__device__ inline float Infinity() { return __int_as_float(0x7f800000); }

// Reads weights, which are not read again before the caches are full of others.
__device__ inline uint4 ReadOnce(const Half* from) {
  uint4 result;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(result.x), "=r"(result.y), "=r"(result.z), "=r"(result.w)
               : "l"(from));
  return result;
}

__device__ inline void MultiplyAdd(float (&sum)[4], Word a0, Word a1, Word a2, Word a3, Word b0,
                                   Word b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Lets the next kernel begin, which calls this itself before it touches memory that kernels write,
// and waits until the kernels before this one have ended.
__device__ inline void AwaitEarlierKernels() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ inline uint4 Read(const Half* from) { return *reinterpret_cast<const uint4*>(from); }

__device__ inline void ToFloats(uint4 halves, float (&values)[8]) {
  const Word words[4] = {halves.x, halves.y, halves.z, halves.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = ToFloats(words[i]);
    values[2 * i] = pair.x;
    values[2 * i + 1] = pair.y;
  }
}

__device__ inline uint4 ToHalves(const float (&values)[8]) {
  return make_uint4(ToHalves(values[0], values[1]), ToHalves(values[2], values[3]),
                    ToHalves(values[4], values[5]), ToHalves(values[6], values[7]));
}

__device__ inline float SumOfWarp(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(kAll, value, distance);
  return value;
}

// Returns the sum over all threads of a block. partial: shared, one for each warp. Synchronizes
// before it uses `partial`.
__device__ inline float SumOfBlock(float value, float* partial) {
  value = SumOfWarp(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < blockDim.x / 32; ++i) sum += partial[i];
  return sum;
}

struct Attention {
  const Half* queries;  // [rows, stride]: the first `dim` values of each row
  const Half* own;      // null, or the keys and values of the rows' newest tokens: [rows, stride]
  Half* cache;          // [slots, 2 * dim]: a key, then its value
  const long long* slots;   // [rows, width]
  const long long* counts;  // [rows]: how many of them count, less `more`
  Half* out;                // [rows, dim]
  int stride, dim, width, more;
};

// The part of a softmax that a thread has seen, for eight values of a head.
struct Seen {
  float best = kLowest, sum = 0;
  float mean[8] = {};  // times sum

  __device__ inline void Merge(float other_best, float other_sum, const float (&other_mean)[8]) {
    const float greatest = fmaxf(best, other_best);
    const float own = exp2f(best - greatest), other = exp2f(other_best - greatest);
    best = greatest;
    sum = sum * own + other_sum * other;
#pragma unroll
    for (int i = 0; i < 8; ++i) mean[i] = mean[i] * own + other_mean[i] * other;
  }
};

// The attention of one query in one head. The newest token is the last that counts; its key and
// value are also written to its slot. Grid: heads, rows; blocks of any number of warps up to 8.
extern "C" __global__ void __launch_bounds__(256) Attend(Attention attention) {
  AwaitEarlierKernels();
  __shared__ __align__(16) float means[8][kHeadSize];
  __shared__ float bests[8], sums[8];
  const int thread = threadIdx.x, lane = thread % kKeyLanes, group = thread / kKeyLanes;
  const int warp = thread / 32, warps = blockDim.x / 32, groups = blockDim.x / kKeyLanes;
  const int row = blockIdx.y, dim = attention.dim;
  const int column = blockIdx.x * kHeadSize + lane * 8;
  const int count = min(static_cast<int>(attention.counts[row]) + attention.more, attention.width);
  const long long* const slots = attention.slots + static_cast<size_t>(row) * attention.width;
  const size_t own_at = static_cast<size_t>(row) * attention.stride + column;
  const auto keys_of = [&](int key) -> Half* {
    return attention.cache + static_cast<size_t>(slots[key]) * 2 * dim + column;
  };

  float query[8];
  ToFloats(Read(attention.queries + own_at), query);
  constexpr float kScale = 0.125F * 1.4426950408889634F;  // 1 / sqrt(kHeadSize), for powers of two
#pragma unroll
  for (float& value : query) value *= kScale;

  Seen seen;
  int first = 0;
  do {  // at least one key counts
    uint4 keys[kKeys], values[kKeys];
    const Half* places[kKeys];
    // The slots of the first keys are read before the number of keys is known.
#pragma unroll
    for (int i = 0; i < kKeys; ++i)
      places[i] = keys_of(min(first + i * groups + group, attention.width - 1));
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
      const int key = first + i * groups + group;
      keys[i] = values[i] = make_uint4(0, 0, 0, 0);
      if (key >= count) continue;
      const bool is_own = attention.own != nullptr && key == count - 1;
      const Half* const from = is_own ? attention.own + own_at : places[i];
      keys[i] = Read(from);
      values[i] = Read(from + dim);
    }
    float scores[kKeys];
    float best = seen.best;
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
      float key[8];
      ToFloats(keys[i], key);
      float score = 0;
#pragma unroll
      for (int j = 0; j < 8; ++j) score += query[j] * key[j];
#pragma unroll
      for (int distance = 1; distance < kKeyLanes; distance *= 2)
        score += __shfl_xor_sync(kAll, score, distance);
      scores[i] = score;
      if (first + i * groups + group < count) best = fmaxf(best, score);
    }
    const float before = exp2f(seen.best - best);
    seen.best = best;
    seen.sum *= before;
#pragma unroll
    for (float& mean : seen.mean) mean *= before;
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
      if (first + i * groups + group >= count) continue;
      const float weight = exp2f(scores[i] - best);
      float value[8];
      ToFloats(values[i], value);
      seen.sum += weight;
#pragma unroll
      for (int j = 0; j < 8; ++j) seen.mean[j] += weight * value[j];
    }
    first += groups * kKeys;
  } while (first < count);
  // A warp's groups, then the warps.
#pragma unroll
  for (int distance = kKeyLanes; distance < 32; distance *= 2) {
    float mean[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) mean[i] = __shfl_xor_sync(kAll, seen.mean[i], distance);
    const float best = __shfl_xor_sync(kAll, seen.best, distance);
    const float sum = __shfl_xor_sync(kAll, seen.sum, distance);
    seen.Merge(best, sum, mean);
  }
  if (thread % 32 < kKeyLanes) {
#pragma unroll
    for (int i = 0; i < 8; ++i) means[warp][lane * 8 + i] = seen.mean[i];
    if (lane == 0) {
      bests[warp] = seen.best;
      sums[warp] = seen.sum;
    }
  }
  __syncthreads();
  if (thread < 2 * kKeyLanes && attention.own != nullptr) {
    // The first eight threads copy the key, the next eight the value.
    const int part = thread / kKeyLanes * dim;
    *reinterpret_cast<uint4*>(keys_of(count - 1) + part) = Read(attention.own + own_at + part);
  }
  if (thread >= kKeyLanes) return;
  Seen all;
  for (int i = 0; i < warps; ++i) {
    float mean[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) mean[j] = means[i][lane * 8 + j];
    all.Merge(bests[i], sums[i], mean);
  }
#pragma unroll
  for (float& mean : all.mean) mean /= all.sum;
  *reinterpret_cast<uint4*>(attention.out + static_cast<size_t>(row) * dim + column) =
      ToHalves(all.mean);
}

struct LayerNorm {
  const Half* scale;  // null: there is no norm
  const Half* bias;
  float epsilon;
};

// Writes the norm of a row, of which each thread of the block has eight values.
__device__ inline void WriteNorm(const LayerNorm& norm, const float (&values)[8], int dim,
                                 Half* out) {
  __shared__ float partial[32];
  float sum = 0;
#pragma unroll
  for (const float value : values) sum += value;
  const float mean = SumOfBlock(sum, partial) / dim;
  float squares = 0;
#pragma unroll
  for (const float value : values) squares += (value - mean) * (value - mean);
  const float factor = rsqrtf(SumOfBlock(squares, partial) / dim + norm.epsilon);
  const int column = threadIdx.x * 8;
  float scale[8], bias[8], result[8];
  ToFloats(Read(norm.scale + column), scale);
  ToFloats(Read(norm.bias + column), bias);
#pragma unroll
  for (int i = 0; i < 8; ++i) result[i] = (values[i] - mean) * factor * scale[i] + bias[i];
  *reinterpret_cast<uint4*>(out + column) = ToHalves(result);
}

struct Embedding {
  const long long* tokens;     // [rows]
  const long long* positions;  // [rows], less `more`
  const Half* embeddings;      // [tokens, dim]
  const Half* places;          // [last + 1, dim]
  float factor;
  int more, last, dim;
};

// The embeddings of tokens at their places, and their norm if there is one. Grid: rows; blocks of
// dim / 8 threads.
extern "C" __global__ void Embed(Embedding embedding, LayerNorm norm, Half* out, Half* normed) {
  AwaitEarlierKernels();
  const int dim = embedding.dim, column = threadIdx.x * 8;
  const size_t token = static_cast<size_t>(embedding.tokens[blockIdx.x]);
  const int position = static_cast<int>(embedding.positions[blockIdx.x]) + embedding.more;
  const size_t place = static_cast<size_t>(min(position, embedding.last));
  float values[8], more[8];
  ToFloats(Read(embedding.embeddings + token * dim + column), values);
  ToFloats(Read(embedding.places + place * dim + column), more);
#pragma unroll
  for (int i = 0; i < 8; ++i) values[i] = values[i] * embedding.factor + more[i];
  const size_t at = static_cast<size_t>(blockIdx.x) * dim;
  *reinterpret_cast<uint4*>(out + at + column) = ToHalves(values);
  if (norm.scale != nullptr) WriteNorm(norm, values, dim, normed + at);
}

// The sum x + added + bias and its norm. added: may be null, with the bias. sum: may be null. Grid:
// rows; blocks of dim / 8 threads.
extern "C" __global__ void AddNorm(const Half* x, const Half* added, const Half* bias,
                                   LayerNorm norm, Half* sum, Half* normed, int dim) {
  AwaitEarlierKernels();
  const int column = threadIdx.x * 8;
  const size_t at = static_cast<size_t>(blockIdx.x) * dim;
  float values[8];
  ToFloats(Read(x + at + column), values);
  if (added != nullptr) {
    float more[8], constant[8];
    ToFloats(Read(added + at + column), more);
    ToFloats(Read(bias + column), constant);
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] += more[i] + constant[i];
  }
  if (sum != nullptr) *reinterpret_cast<uint4*>(sum + at + column) = ToHalves(values);
  WriteNorm(norm, values, dim, normed + at);
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

// Brings the rows into shared memory, normalized, with zeros for those that are missing. A warp has
// one row.
__device__ inline void LoadRows(const FewRowsProduct& product, Half* rows) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, inputs = product.inputs;
  Half* const to = rows + warp * (inputs + kRowGap);
  const size_t at = static_cast<size_t>(warp) * inputs;
  const bool has_row = warp < product.rows;
  float sum = 0;
  for (int i = lane * 8; i < inputs; i += 256) {
    const uint4 halves = has_row ? Read(product.x + at + i) : make_uint4(0, 0, 0, 0);
    *reinterpret_cast<uint4*>(to + i) = halves;
    float values[8];
    ToFloats(halves, values);
#pragma unroll
    for (const float value : values) sum += value;
  }
  if (!has_row || product.norm.scale == nullptr) return;
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
    ToFloats(Read(product.norm.scale + i), scale);
    ToFloats(Read(product.norm.bias + i), bias);
#pragma unroll
    for (int j = 0; j < 8; ++j) values[j] = (values[j] - mean) * factor * scale[j] + bias[j];
    const uint4 halves = ToHalves(values);
    *reinterpret_cast<uint4*>(to + i) = halves;
    if (product.normed != nullptr && blockIdx.x == 0)
      *reinterpret_cast<uint4*>(product.normed + at + i) = halves;
  }
}

// Finishes the sums of a tile: this lane's columns are lane / 4 and eight more, its rows are
// lane % 4 * 2 and the next.
__device__ inline void WriteTile(const FewRowsProduct& product, int tile, const float (&sums)[4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int column = tile * kTile + lane / 4 + i / 2 * 8, row = lane % 4 * 2 + i % 2;
    if (row >= product.rows) continue;
    const size_t at = static_cast<size_t>(row) * product.columns + column;
    float value = sums[i];
    if (product.bias == nullptr) {
      static_cast<float*>(product.out)[at] = value;
      continue;
    }
    value += ToFloats(product.bias[column]).x;
    if (product.activation == 1) value = value < 0 ? 0 : value;
    if (product.activation == 2) value = value / (1 + __expf(-value));
    if (product.residual != nullptr) value += ToFloats(product.residual[at]).x;
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
  Half* const rows = reinterpret_cast<Half*>(shared);
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
  read_weights(first_tile, begin);  // on their way while the rows are normalized
  AwaitEarlierKernels();
  LoadRows(product, rows);
  __syncthreads();
  const Half* const x = rows + lane / 4 * (inputs + kRowGap) + lane % 4 * 8;
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
    WriteTile(product, tile, sums[0]);
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[0][i] = sums[1][i] = 0;
  }
  if (warps == 1) return;
  __syncthreads();  // the rows are no longer read
  float4* const partial = reinterpret_cast<float4*>(shared);
  partial[threadIdx.x] = make_float4(sums[0][0], sums[0][1], sums[0][2], sums[0][3]);
  __syncthreads();
  if (part != 0 || first_tile >= tiles) return;
  for (int i = 1; i < warps; ++i) {
    const float4 more = partial[threadIdx.x + i * 32];
    sums[0][0] += more.x;
    sums[0][1] += more.y;
    sums[0][2] += more.z;
    sums[0][3] += more.w;
  }
  WriteTile(product, first_tile, sums[0]);
}

// The best of some scores: of equal ones the first. What is no number is better than any number.
struct Best {
  float score = -Infinity();
  int token = 0x7fffffff;

  __device__ inline void Consider(float other_score, int other_token) {
    if (other_score != other_score) other_score = Infinity();
    if (other_score > score || (other_score == score && other_token < token)) {
      score = other_score;
      token = other_token;
    }
  }
  __device__ inline void MergeWarp() {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      const float other_score = __shfl_xor_sync(kAll, score, distance);
      const int other_token = __shfl_xor_sync(kAll, token, distance);
      Consider(other_score, other_token);
    }
  }
};

// The best of a part of each row of scores + bias, [rows, tokens]: scores and tokens [rows, parts].
// forced: -2 - t if token t may not be chosen. Grid: parts, rows; blocks of kChoiceThreads threads.
extern "C" __global__ void FindBest(const float* scores, const float* bias, const long long* forced,
                                    float* best_scores, int* best_tokens, int tokens) {
  AwaitEarlierKernels();
  __shared__ float warp_scores[kChoiceThreads / 32];
  __shared__ int warp_tokens[kChoiceThreads / 32];
  const float* const row = scores + static_cast<size_t>(blockIdx.y) * tokens;
  const int thread = threadIdx.x;
  const int forbidden = -2 - static_cast<int>(forced[blockIdx.y]);  // a token, or negative
  Best best;
  const int step = gridDim.x * kChoiceThreads * 4;
  for (int first = (blockIdx.x * kChoiceThreads + thread) * 4; first < tokens;
       first += kScoreReads * step) {
    // All reads are on their way before the first of them is used.
    float4 fours[kScoreReads], more[kScoreReads];
#pragma unroll
    for (int read = 0; read < kScoreReads; ++read) {
      const int i = min(first + read * step, tokens - 4);  // again the last, beyond the end
      fours[read] = *reinterpret_cast<const float4*>(row + i);
      more[read] = *reinterpret_cast<const float4*>(bias + i);
    }
#pragma unroll
    for (int read = 0; read < kScoreReads; ++read) {
      const int i = min(first + read * step, tokens - 4);
      const float scores_of[4] = {fours[read].x + more[read].x, fours[read].y + more[read].y,
                                  fours[read].z + more[read].z, fours[read].w + more[read].w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (i + j != forbidden) best.Consider(scores_of[j], i + j);
      }
    }
  }
  best.MergeWarp();
  if (thread % 32 == 0) {
    warp_scores[thread / 32] = best.score;
    warp_tokens[thread / 32] = best.token;
  }
  __syncthreads();
  if (thread != 0) return;
  for (int i = 1; i < kChoiceThreads / 32; ++i) best.Consider(warp_scores[i], warp_tokens[i]);
  const int at = blockIdx.y * gridDim.x + blockIdx.x;
  best_scores[at] = best.score;
  best_tokens[at] = best.token;
}

// Chooses each row's token: the forced one unless it is negative, else the best of the parts, or -1
// if its score is not finite. next: receives the token to go on with. Grid: rows; blocks of a warp.
extern "C" __global__ void ChooseToken(const float* best_scores, const int* best_tokens,
                                       const long long* forced, long long* chosen, long long* next,
                                       int parts) {
  AwaitEarlierKernels();
  const int row = blockIdx.x;
  Best best;
  for (int i = threadIdx.x; i < parts; i += 32)
    best.Consider(best_scores[row * parts + i], best_tokens[row * parts + i]);
  best.MergeWarp();
  if (threadIdx.x != 0) return;
  long long token = forced[row];
  if (token < 0) token = fabsf(best.score) < Infinity() ? best.token : -1;
  chosen[row] = token;
  next[row] = token < 0 ? 0 : token;
}
