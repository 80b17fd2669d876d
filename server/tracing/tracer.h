#pragma once

#include <memory>

#include "mps_runtime/base/clock.h"
#include "server/tracing/arrival.h"
#include "server/tracing/request_trace.h"
#include "server/tracing/sampler.h"
#include "server/tracing/trace_queue.h"

namespace millrace::tracing {

// Begins the traces of requests. Thread-safe; it takes no lock. It costs a request that is not
// sampled a random number.
class Tracer {
 public:
  // The queue and the counts must outlive it and the traces.
  Tracer(Sampler sampler, TraceQueue& queue, SpanCounts& counts)
      : sampler_(sampler), queue_(queue), counts_(counts) {}

  // Returns the trace of a request that arrived at `now`; null if it is not sampled.
  std::unique_ptr<RequestTrace> Begin(const Arrival& arrival, TimePoint now) const;

 private:
  const Sampler sampler_;
  TraceQueue& queue_;
  SpanCounts& counts_;
};

}  // namespace millrace::tracing
