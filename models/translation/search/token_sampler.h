#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "models/translation/search/search_options.h"

namespace millrace::translation {

// Samples tokens by their scores. The tokens depend on the seed and the scores only, and are the
// same on every machine. One thread at a time.
class TokenSampler {
 public:
  explicit TokenSampler(const SearchOptions& options);

  // At least one score must be above minus infinity.
  int32_t Draw(std::span<const float> scores);

 private:
  struct Candidate {
    float score;
    int32_t token;
  };

  const float temperature_;
  const size_t top_k_;
  const double top_p_;
  std::mt19937_64 random_;
  std::vector<Candidate> candidates_;
  std::vector<double> weights_;
};

}  // namespace millrace::translation
