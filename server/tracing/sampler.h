#pragma once

#include <cstdint>
#include <optional>

#include "server/tracing/ids.h"
#include "server/tracing/trace_context.h"

namespace millrace::tracing {

// Decides which requests are traced, as OpenTelemetry's samplers of the same names do. A small
// value.
class Sampler {
 public:
  // ratio: the part of the traces that begin here to sample, 0..1. follows_parent: a request whose
  // client has a trace is sampled if the client's is, whatever the ratio.
  Sampler(double ratio, bool follows_parent);

  // parent: the client's context, if it sent one. The ratio looks at the trace id alone, so that
  // servers with the same ratio choose the same traces.
  bool ShouldSample(const TraceId& id, const std::optional<TraceContext>& parent) const;

 private:
  uint64_t bound_;  // the bound of the 63 last bits of the trace id
  bool follows_parent_;
};

}  // namespace millrace::tracing
