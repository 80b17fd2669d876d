#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "server/logging/line_limiter.h"
#include "server/metrics/metric_writer.h"

namespace millrace::server {

// Counts the gRPC calls that end for want of a key or a right, or before a service sees them, by
// code, and logs them as long as they are few. Thread-safe.
class CallRefusals {
 public:
  // method: as the client called it. client: its address, as gRPC writes it.
  void Add(absl::StatusCode code, std::string_view method, std::string_view client);
  void Collect(MetricWriter& writer) const;

 private:
  static constexpr std::array kCodes = {
      absl::StatusCode::kUnauthenticated, absl::StatusCode::kPermissionDenied,
      absl::StatusCode::kUnimplemented, absl::StatusCode::kResourceExhausted};

  std::array<std::atomic<uint64_t>, kCodes.size()> counts_{};
  logging::LineLimiter lines_{/*burst=*/5, std::chrono::seconds(10)};
};

}  // namespace millrace::server
