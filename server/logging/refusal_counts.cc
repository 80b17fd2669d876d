#include "server/logging/refusal_counts.h"

#include <algorithm>

namespace millrace::logging {

std::optional<uint64_t> RefusalCounts::Add(int code) {
  const auto found = std::ranges::find(codes_, code);
  if (found == codes_.end()) return std::nullopt;
  counts_[static_cast<size_t>(found - codes_.begin())].fetch_add(1, std::memory_order_relaxed);
  return lines_.Pass();
}

std::vector<std::pair<int, uint64_t>> RefusalCounts::Counts() const {
  std::vector<std::pair<int, uint64_t>> counts;
  for (size_t i = 0; i < codes_.size(); ++i)
    counts.emplace_back(codes_[i], counts_[i].load(std::memory_order_relaxed));
  return counts;
}

}  // namespace millrace::logging
