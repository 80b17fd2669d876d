// A decoder's step in half precision with sums in float32, for NVRTC, which has no headers: for
// compute capability 8.0 and later. Tensors are contiguous rows, and their sizes are multiples of
// those that WhyNot in decoder_operators.cc demands.

typedef unsigned short Half;

constexpr int kHeadSize = 64;
constexpr int kKeyLanes = 8;  // threads that share a key, 16 bytes each
constexpr int kKeys = 4;      // keys that such threads read at a time
constexpr float kLowest = -1e30F;
constexpr unsigned kAll = 0xffffffff;

// Waits until the kernels before this one have ended, and lets the next one begin, which calls this
// itself before it touches memory that this one writes. When a kernel begins, those before the one
// in front of it have ended.
__device__ inline void AwaitEarlierKernels() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
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
  __shared__ __align__(16) float means[8][kHeadSize];
  __shared__ float bests[8], sums[8];
  const int thread = threadIdx.x, lane = thread % kKeyLanes, group = thread / kKeyLanes;
  const int warp = thread / 32, warps = blockDim.x / 32, groups = blockDim.x / kKeyLanes;
  const int row = blockIdx.y, dim = attention.dim;
  const int column = blockIdx.x * kHeadSize + lane * 8;
  const int count = min(static_cast<int>(attention.counts[row]) + attention.more, attention.width);
  const int earlier = attention.own != nullptr ? count - 1 : count;
  const long long* const slots = attention.slots + static_cast<size_t>(row) * attention.width;
  const size_t own_at = static_cast<size_t>(row) * attention.stride + column;
  const auto keys_of = [&](int key) -> Half* {
    return attention.cache + static_cast<size_t>(slots[key]) * 2 * dim + column;
  };

  // The slots of the first keys are read before the number of keys is known, and the keys and
  // values of earlier tokens before the kernel in front has ended: others wrote them.
  uint4 keys[kKeys], values[kKeys];
  const auto read_keys = [&](int first) {
    const Half* places[kKeys];
#pragma unroll
    for (int i = 0; i < kKeys; ++i)
      places[i] = keys_of(min(first + i * groups + group, attention.width - 1));
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
      keys[i] = values[i] = make_uint4(0, 0, 0, 0);
      if (first + i * groups + group >= earlier) continue;
      keys[i] = Read(places[i]);
      values[i] = Read(places[i] + dim);
    }
  };
  read_keys(0);
  AwaitEarlierKernels();

  float query[8];
  ToFloats(Read(attention.queries + own_at), query);
  constexpr float kScale = 0.125F * 1.4426950408889634F;  // 1 / sqrt(kHeadSize), for powers of two
#pragma unroll
  for (float& value : query) value *= kScale;

  Seen seen;
  int first = 0;
  do {  // at least one key counts
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
      const int key = first + i * groups + group;
      if (key < earlier || key >= count) continue;
      keys[i] = Read(attention.own + own_at);
      values[i] = Read(attention.own + own_at + dim);
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
    if (first < count) read_keys(first);
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

// A thread's eight scales and biases.
struct NormPart {
  uint4 scale, bias;

  __device__ inline explicit NormPart(const LayerNorm& norm)
      : scale(Read(norm.scale + threadIdx.x * 8)), bias(Read(norm.bias + threadIdx.x * 8)) {}
};

// Writes the norm of a row, of which each thread of the block has eight values.
__device__ inline void WriteNorm(const LayerNorm& norm, const NormPart& part,
                                 const float (&values)[8], int dim, Half* out) {
  __shared__ float partial[32];
  float sum = 0;
#pragma unroll
  for (const float value : values) sum += value;
  const float mean = SumOfBlock(sum, partial) / dim;
  float squares = 0;
#pragma unroll
  for (const float value : values) squares += (value - mean) * (value - mean);
  const float factor = rsqrtf(SumOfBlock(squares, partial) / dim + norm.epsilon);
  float scale[8], bias[8], result[8];
  ToFloats(part.scale, scale);
  ToFloats(part.bias, bias);
#pragma unroll
  for (int i = 0; i < 8; ++i) result[i] = (values[i] - mean) * factor * scale[i] + bias[i];
  *reinterpret_cast<uint4*>(out + threadIdx.x * 8) = ToHalves(result);
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
  if (norm.scale != nullptr) WriteNorm(norm, NormPart(norm), values, dim, normed + at);
}

// The sum x + added + bias and its norm. added: may be null, with the bias. sum: may be null. Grid:
// rows; blocks of dim / 8 threads.
extern "C" __global__ void AddNorm(const Half* x, const Half* added, const Half* bias,
                                   LayerNorm norm, Half* sum, Half* normed, int dim) {
  const int column = threadIdx.x * 8;
  const NormPart part(norm);
  const uint4 constants = added != nullptr ? Read(bias + column) : make_uint4(0, 0, 0, 0);
  AwaitEarlierKernels();
  const size_t at = static_cast<size_t>(blockIdx.x) * dim;
  float values[8];
  ToFloats(Read(x + at + column), values);
  if (added != nullptr) {
    float more[8], constant[8];
    ToFloats(Read(added + at + column), more);
    ToFloats(constants, constant);
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] += more[i] + constant[i];
  }
  if (sum != nullptr) *reinterpret_cast<uint4*>(sum + at + column) = ToHalves(values);
  WriteNorm(norm, part, values, dim, normed + at);
}
