#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "server/metrics/model_metrics.h"
#include "server/tracing/arrival.h"
#include "server/tracing/request_trace.h"
#include "server/tracing/tracer.h"

namespace millrace::server {

// The span of a sampled request as a whole, by OpenTelemetry's conventions for servers of gRPC and
// HTTP. Belongs to the request's run.
class RequestSpan {
 public:
  // Returns null if the request is not sampled.
  static std::unique_ptr<RequestSpan> Begin(const tracing::Tracer& tracer,
                                            const tracing::Arrival& arrival, TimePoint now);

  tracing::RequestTrace& trace() { return *trace_; }
  // Returns the id in hexadecimal digits.
  std::string trace_id() const { return tracing::ToHex(trace_->id()); }

  struct Facts {
    std::string request_id;
    std::string client;  // its address and port; may be empty
    std::string model;   // empty if it reached none
  };
  // Ends the span. Must be called at most once, when all work has ended.
  void Finish(Method method, const absl::Status& status, TimePoint now, Facts facts);

 private:
  RequestSpan(std::unique_ptr<tracing::RequestTrace> trace, const tracing::Arrival& arrival)
      : trace_(std::move(trace)), arrival_(arrival) {}

  const std::unique_ptr<tracing::RequestTrace> trace_;
  const tracing::Arrival arrival_;
};

}  // namespace millrace::server
