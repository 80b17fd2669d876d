#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "models/bergamot/int8_encoder.h"

namespace millrace::bergamot {

// Returns the source token that a query attends to most, over all heads together. Meant for a
// decoder layer whose attention is an alignment; too slow for hot loops.
inline int32_t AttentionPeak(std::span<const float> query, const SentenceMemory& memory,
                             int64_t heads) {
  const int64_t size = static_cast<int64_t>(query.size()) / heads;
  const float scale = 1.0F / std::sqrt(static_cast<float>(size));
  std::vector<float> weights(static_cast<size_t>(memory.length));
  std::vector<float> scores(weights.size());
  for (int64_t head = 0; head < heads; ++head) {
    std::ranges::fill(scores, 0.0F);
    for (int64_t d = head * size; d < (head + 1) * size; ++d) {
      const float* keys = memory.keys.data() + d * memory.padded;
      for (size_t j = 0; j < scores.size(); ++j)
        scores[j] += query[static_cast<size_t>(d)] * keys[j] * scale;
    }
    const float most = *std::ranges::max_element(scores);
    float sum = 0;
    for (float& score : scores) sum += score = std::exp(score - most);
    for (size_t j = 0; j < scores.size(); ++j) weights[j] += scores[j] / sum;
  }
  return static_cast<int32_t>(std::ranges::max_element(weights) - weights.begin());
}

}  // namespace millrace::bergamot
