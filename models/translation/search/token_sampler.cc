#include "models/translation/search/token_sampler.h"

#include <algorithm>
#include <cmath>

namespace millrace::translation {

TokenSampler::TokenSampler(const SearchOptions& options)
    : temperature_(options.temperature),
      top_k_(static_cast<size_t>(options.top_k)),
      top_p_(static_cast<double>(options.top_p)),
      random_(options.seed) {}

int32_t TokenSampler::Draw(std::span<const float> scores) {
  candidates_.clear();
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isfinite(scores[i]))
      candidates_.push_back({scores[i] / temperature_, static_cast<int32_t>(i)});
  }
  if (candidates_.empty()) return 0;
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.score > b.score || (a.score == b.score && a.token < b.token);
  };
  if (top_k_ > 0 && top_k_ < candidates_.size()) {
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(top_k_);
    std::nth_element(candidates_.begin(), end - 1, candidates_.end(), better);
    candidates_.erase(end, candidates_.end());
  }
  std::ranges::sort(candidates_, better);
  weights_.clear();
  double total = 0;
  for (const Candidate& candidate : candidates_) {
    weights_.push_back(std::exp(static_cast<double>(candidate.score - candidates_[0].score)));
    total += weights_.back();
  }
  size_t kept = 0;
  double mass = 0;
  while (kept < weights_.size() && (kept == 0 || mass < top_p_ * total)) mass += weights_[kept++];
  // Uses 53 random bits, because the standard's distributions differ between libraries.
  double left = std::ldexp(static_cast<double>(random_() >> 11), -53) * mass;
  for (size_t i = 0; i + 1 < kept; ++i) {
    left -= weights_[i];
    if (left < 0) return candidates_[i].token;
  }
  return candidates_[kept - 1].token;
}

}  // namespace millrace::translation
