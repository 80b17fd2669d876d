// The passes before and after products in half precision that are about as exact as in float32,
// for NVRTC, which has no headers. A row of `width` values is split into 3 * width halves: the
// values rounded, the same once more, and what the rounding took away. The other factor holds its
// rounded values, what its rounding took away, and its rounded values again: the sum of the three
// products lacks only that of the two rests.

constexpr int kThreads = 256;

// Writes a pair of a row of `pairs`.
__device__ inline void WriteSplit(Word* row, int pairs, int at, float2 value) {
  const Word rounded = ToHalves(value.x, value.y);
  const float2 kept = ToFloats(rounded);
  row[at] = rounded;
  row[pairs + at] = rounded;
  row[2 * pairs + at] = ToHalves(value.x - kept.x, value.y - kept.y);
}

__device__ inline float2 FinishPair(float2 product, float scale, float2 bias) {
  return make_float2(fmaf(product.x, scale, bias.x), fmaf(product.y, scale, bias.y));
}

// Grid: rows.
extern "C" __global__ void SplitRows(const float2* x, Word* out, int pairs) {
  const size_t row = blockIdx.x;
  for (int at = threadIdx.x; at < pairs; at += kThreads)
    WriteSplit(out + row * 3 * pairs, pairs, at, x[row * pairs + at]);
}

__device__ inline float Gelu(float x) {
  return 0.5F * x * (1.F + tanhf(0.7978845608F * (x + 0.044715F * x * x * x)));
}

// The GELU, by the hyperbolic tangent, of a product * scale + bias. Grid: rows.
extern "C" __global__ void GeluSplit(const float2* product, float scale, const float2* bias,
                                     Word* out, int pairs) {
  const size_t row = blockIdx.x;
  for (int at = threadIdx.x; at < pairs; at += kThreads) {
    const float2 x = FinishPair(product[row * pairs + at], scale, bias[at]);
    WriteSplit(out + row * 3 * pairs, pairs, at, make_float2(Gelu(x.x), Gelu(x.y)));
  }
}

// Returns the sum over a block to all of its threads.
__device__ inline float SumOfBlock(float value) {
  __shared__ float sums[kThreads / 32];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffff, value, distance);
  __syncthreads();
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kThreads / 32; ++i) sum += sums[i];
  return sum;
}

constexpr int kMostPairs = 4;  // a thread has at most so many pairs of a row

// The layer norm of a product * scale + bias + residual: as it is, and split. Grid: rows.
extern "C" __global__ void AddNormSplit(const float2* product, float scale, const float2* bias,
                                        const float2* residual, const float2* weight,
                                        const float2* shift, float epsilon, float2* x, Word* out,
                                        int pairs) {
  const size_t row = blockIdx.x;
  float2 values[kMostPairs];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kMostPairs; ++i) {
    const int at = i * kThreads + threadIdx.x;
    if (at >= pairs) continue;
    values[i] = FinishPair(product[row * pairs + at], scale, bias[at]);
    const float2 more = residual[row * pairs + at];
    values[i].x += more.x;
    values[i].y += more.y;
    sum += values[i].x + values[i].y;
  }
  const float mean = SumOfBlock(sum) / (2 * pairs);
  float squares = 0;
#pragma unroll
  for (int i = 0; i < kMostPairs; ++i) {
    if (i * kThreads + threadIdx.x >= pairs) continue;
    values[i].x -= mean;
    values[i].y -= mean;
    squares += values[i].x * values[i].x + values[i].y * values[i].y;
  }
  const float factor = rsqrtf(SumOfBlock(squares) / (2 * pairs) + epsilon);
#pragma unroll
  for (int i = 0; i < kMostPairs; ++i) {
    const int at = i * kThreads + threadIdx.x;
    if (at >= pairs) continue;
    const float2 scales = weight[at], shifts = shift[at];
    const float2 y = make_float2(fmaf(values[i].x * factor, scales.x, shifts.x),
                                 fmaf(values[i].y * factor, scales.y, shifts.y));
    x[row * pairs + at] = y;
    WriteSplit(out + row * 3 * pairs, pairs, at, y);
  }
}

// For each row of x [batch, time, channels] the rows that the taps of a convolution read, one
// behind the other and split, with zeros beyond both ends: the leaky ReLU of x * scale + shift with
// norm [batch, 2, channels], or x itself if it is null. All rows count if counts is null. Grid:
// time, batch.
extern "C" __global__ void UnfoldSplit(const float2* x, const float2* norm, float slope,
                                       const float* counts, Word* out, int pairs, int taps) {
  const int t = blockIdx.x, batch = blockIdx.y, time = gridDim.x;
  const int count = counts != nullptr ? static_cast<int>(counts[batch]) : time;
  const size_t sentence = static_cast<size_t>(batch) * time;
  const int all = taps * pairs;
  Word* const row = out + (sentence + t) * 3 * all;
  for (int at = threadIdx.x; at < all; at += kThreads) {
    const int from = t + at / pairs - taps / 2, pair = at % pairs;
    float2 value = make_float2(0, 0);
    if (t < count && from >= 0 && from < count) {
      value = x[(sentence + from) * pairs + pair];
      if (norm != nullptr) {
        const float2* const of_batch = norm + static_cast<size_t>(batch) * 2 * pairs + pair;
        const float2 scale = of_batch[0], shift = of_batch[pairs];
        value.x = value.x * scale.x + shift.x;
        value.y = value.y * scale.y + shift.y;
        if (value.x < 0) value.x *= slope;
        if (value.y < 0) value.y *= slope;
      }
    }
    WriteSplit(row, all, at, value);
  }
}

// (product * scale + bias + kept) * factor; kept may be null, and each of its rows counts for
// `repeat` rows. Grid: rows.
extern "C" __global__ void FinishProduct(const float2* product, float scale, const float2* bias,
                                         const float2* kept, int repeat, float factor, float2* out,
                                         int pairs) {
  const size_t row = blockIdx.x;
  for (int at = threadIdx.x; at < pairs; at += kThreads) {
    float2 value = FinishPair(product[row * pairs + at], scale, bias[at]);
    if (kept != nullptr) {
      const float2 more = kept[row / repeat * pairs + at];
      value.x += more.x;
      value.y += more.y;
    }
    out[row * pairs + at] = make_float2(value.x * factor, value.y * factor);
  }
}
