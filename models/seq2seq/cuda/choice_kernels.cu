// The choice of tokens, for NVRTC, which has no headers: for compute capability 8.0 and later. The
// text follows that of decoder_kernels.cu.

constexpr int kChoiceThreads = 256;
constexpr int kScoreReads = 4;  // a thread reads so many times four scores at a time

__device__ inline float Infinity() { return __int_as_float(0x7f800000); }

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
