// The recurrence of an LSTM layer in float32, for NVRTC, which has no headers: for compute
// capability 9.0 and later. The blocks of a cluster hold the recurrent weights in their registers
// for as long as the layer runs, and tell each other the new state by their shared memory.

constexpr int kHidden = 256;
constexpr int kClusterBlocks = 8;
constexpr int kUnits = kHidden / kClusterBlocks;  // a block has so many units
constexpr int kLanes = 8;                         // threads that share a unit
constexpr int kColumns = kHidden / kLanes;        // columns of the weights of a thread
constexpr int kLstmThreads = kUnits * kLanes;

__device__ inline float Sigmoid(float x) { return 1.F / (1.F + expf(-x)); }

__device__ inline void ArriveAtCluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ inline void AwaitCluster() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Writes to a variable in the shared memory of a block of the cluster, at its address in this one.
__device__ inline void StoreTo(unsigned block, const float* variable, float value) {
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(variable));
  unsigned theirs;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(own), "r"(block));
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(theirs), "f"(value) : "memory");
}

// gates: what the input contributes, [batch, time, 2, 4, kHidden] in the order of input, forget,
// cell and output: it counts times scale, plus bias [2, 4, kHidden]. weights: [2, 4, kHidden,
// kHidden]. counts: the values of time up to the end, at which the second direction begins. out:
// [batch, time, 2, kHidden], zeros beyond the end. A cluster runs kSentences sentences in one
// direction. Grid: kClusterBlocks for each kSentences of the batch, 2.
template <int kSentences>
__device__ inline void RunLstm(const float* gates, float scale, const float* bias,
                               const float* weights, const float* counts, float* out, int batch,
                               int time) {
  // Each sentence has kOwners of the threads that share a unit. All of them compute the new state.
  constexpr int kOwners = kLanes / kSentences;
  constexpr int kTargets = kClusterBlocks / kOwners;  // blocks that an owner tells the state
  __shared__ __align__(16) float state[2][kSentences][kHidden];
  const int thread = threadIdx.x, lane = thread % kLanes;
  const int unit = blockIdx.x % kClusterBlocks * kUnits + thread / kLanes;
  const int direction = blockIdx.y;
  const int first = blockIdx.x / kClusterBlocks * kSentences;

  // The thread's columns are four of each kLanes * 4, so that the lanes read different banks.
  float4 held[4][kColumns / 4];
#pragma unroll
  for (int gate = 0; gate < 4; ++gate) {
    const float* const row =
        weights + ((static_cast<size_t>(direction) * 4 + gate) * kHidden + unit) * kHidden;
#pragma unroll
    for (int i = 0; i < kColumns / 4; ++i)
      held[gate][i] = *reinterpret_cast<const float4*>(row + (i * kLanes + lane) * 4);
  }
  for (int i = thread; i < kSentences * kHidden; i += kLstmThreads) (&state[0][0][0])[i] = 0;
  int longest = 0;
#pragma unroll
  for (int i = 0; i < kSentences; ++i) {
    if (first + i < batch) longest = max(longest, static_cast<int>(counts[first + i]));
  }
  const int sentence = first + lane / kOwners;
  const bool exists = sentence < batch;
  const int count = exists ? static_cast<int>(counts[sentence]) : 0;
  const bool writes = lane % kOwners == 0 && exists;
  float* const results =
      out + (static_cast<size_t>(exists ? sentence : 0) * time * 2 + direction) * kHidden + unit;
  const float* const inputs =
      gates + (static_cast<size_t>(exists ? sentence : 0) * time * 2 + direction) * 4 * kHidden +
      unit;
  if (writes) {
    for (int t = count; t < time; ++t) results[static_cast<size_t>(t) * 2 * kHidden] = 0;
  }
  float biases[4];
#pragma unroll
  for (int gate = 0; gate < 4; ++gate) biases[gate] = bias[(direction * 4 + gate) * kHidden + unit];
  float next[4] = {};
  const auto read_input = [&](int step) {
    if (step >= count) return;
    const size_t t = direction == 0 ? step : count - 1 - step;
#pragma unroll
    for (int gate = 0; gate < 4; ++gate)
      next[gate] = fmaf(inputs[t * 8 * kHidden + gate * kHidden], scale, biases[gate]);
  };
  read_input(0);
  float cell = 0;
  ArriveAtCluster();  // all states are zero, and all blocks have begun
  AwaitCluster();
  for (int step = 0; step < longest; ++step) {
    float input[4];
#pragma unroll
    for (int gate = 0; gate < 4; ++gate) input[gate] = next[gate];
    read_input(step + 1);
    float sums[kSentences][4] = {};
#pragma unroll
    for (int i = 0; i < kColumns / 4; ++i) {
#pragma unroll
      for (int one = 0; one < kSentences; ++one) {
        const float4 before =
            *reinterpret_cast<const float4*>(&state[step & 1][one][(i * kLanes + lane) * 4]);
#pragma unroll
        for (int gate = 0; gate < 4; ++gate) {
          float& sum = sums[one][gate];
          sum = fmaf(held[gate][i].x, before.x, sum);
          sum = fmaf(held[gate][i].y, before.y, sum);
          sum = fmaf(held[gate][i].z, before.z, sum);
          sum = fmaf(held[gate][i].w, before.w, sum);
        }
      }
    }
    // Adds up over the lanes. Each exchange leaves a lane half of the sentences, down to one.
#pragma unroll
    for (int left = kSentences / 2; left > 0; left /= 2) {
      const int distance = left * kOwners;
      const bool upper = (lane & distance) != 0;
#pragma unroll
      for (int one = 0; one < left; ++one) {
#pragma unroll
        for (int gate = 0; gate < 4; ++gate) {
          const float given = upper ? sums[one][gate] : sums[one + left][gate];
          const float kept = upper ? sums[one + left][gate] : sums[one][gate];
          sums[one][gate] = kept + __shfl_xor_sync(0xffffffff, given, distance);
        }
      }
    }
#pragma unroll
    for (int distance = kOwners / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (int gate = 0; gate < 4; ++gate)
        sums[0][gate] += __shfl_xor_sync(0xffffffff, sums[0][gate], distance);
    }
    cell = Sigmoid(sums[0][1] + input[1]) * cell +
           Sigmoid(sums[0][0] + input[0]) * tanhf(sums[0][2] + input[2]);
    const float hidden = Sigmoid(sums[0][3] + input[3]) * tanhf(cell);
#pragma unroll
    for (int i = 0; i < kTargets; ++i) {
      StoreTo(lane % kOwners * kTargets + i, &state[(step + 1) & 1][lane / kOwners][unit], hidden);
    }
    ArriveAtCluster();
    if (writes && step < count) {
      const size_t t = direction == 0 ? step : count - 1 - step;
      results[t * 2 * kHidden] = hidden;
    }
    AwaitCluster();
  }
}

extern "C" __global__ void __cluster_dims__(kClusterBlocks, 1, 1) __launch_bounds__(kLstmThreads, 1)
    Lstm1(const float* gates, float scale, const float* bias, const float* weights,
          const float* counts, float* out, int batch, int time) {
  RunLstm<1>(gates, scale, bias, weights, counts, out, batch, time);
}

extern "C" __global__ void __cluster_dims__(kClusterBlocks, 1, 1) __launch_bounds__(kLstmThreads, 1)
    Lstm4(const float* gates, float scale, const float* bias, const float* weights,
          const float* counts, float* out, int batch, int time) {
  RunLstm<4>(gates, scale, bias, weights, counts, out, batch, time);
}
