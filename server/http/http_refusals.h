#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "server/logging/line_limiter.h"

namespace millrace {

// Counts the requests that an HTTP server refuses, by status, and logs them as long as they are
// few. Thread-safe.
class HttpRefusals {
 public:
  // path: as the client sent it. address, reason: empty if they are not known.
  void Add(int status, std::string_view method, std::string_view path, std::string_view address,
           std::string_view reason);
  // Returns the counts of all statuses that occur, also those at 0.
  std::vector<std::pair<int, uint64_t>> Counts() const;

 private:
  static constexpr std::array<int, 16> kStatuses = {400, 401, 403, 404, 405, 408, 411, 413,
                                                    414, 415, 417, 429, 431, 501, 503, 505};

  std::array<std::atomic<uint64_t>, kStatuses.size()> counts_{};
  logging::LineLimiter lines_{/*burst=*/5, std::chrono::seconds(10)};
};

}  // namespace millrace
