#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "server/logging/refusal_counts.h"
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
  static constexpr int kCodes[] = {static_cast<int>(absl::StatusCode::kUnauthenticated),
                                   static_cast<int>(absl::StatusCode::kPermissionDenied),
                                   static_cast<int>(absl::StatusCode::kUnimplemented),
                                   static_cast<int>(absl::StatusCode::kResourceExhausted)};

  logging::RefusalCounts counts_{kCodes};
};

}  // namespace millrace::server
