#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "server/logging/line_limiter.h"

namespace millrace::logging {

// Counts what a server refuses, by code, and says which of it is logged: all as long as it is
// little. Thread-safe.
class RefusalCounts {
 public:
  // codes: those that are counted, in static storage.
  explicit RefusalCounts(std::span<const int> codes) : codes_(codes), counts_(codes.size()) {}

  // Counts a refusal, if its code is one of them. If it is to be logged, returns the number of
  // lines that were held back since the last one.
  std::optional<uint64_t> Add(int code);
  // Returns the counts of all codes, also those at 0.
  std::vector<std::pair<int, uint64_t>> Counts() const;

 private:
  const std::span<const int> codes_;
  std::vector<std::atomic<uint64_t>> counts_;
  LineLimiter lines_{/*burst=*/5, std::chrono::seconds(10)};
};

}  // namespace millrace::logging
