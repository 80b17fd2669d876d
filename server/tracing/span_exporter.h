#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "server/tracing/span.h"

namespace millrace::tracing {

// The result of sending a batch to the collector.
struct ExportResult {
  enum class Kind : uint8_t { kAccepted, kTryAgain, kFailed };

  Kind kind = Kind::kAccepted;
  std::string error = {};  // set for a batch that was not accepted, or not as a whole
  uint64_t rejected = 0;   // spans of an accepted batch that the collector refused
  std::chrono::milliseconds try_after{0};  // for kTryAgain, as the collector asks; 0: it does not
};

// Sends batches to a collector. One thread exports; any other may cancel.
class SpanExporter {
 public:
  virtual ~SpanExporter() = default;
  // Blocks at most about as long as its timeout.
  virtual ExportResult Export(const std::vector<TraceRecord>& batch) = 0;
  // Ends the Export that runs, and all later ones at once.
  virtual void Cancel() = 0;
};

}  // namespace millrace::tracing
