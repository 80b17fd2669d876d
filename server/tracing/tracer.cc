#include "server/tracing/tracer.h"

#include <optional>

#include "server/tracing/trace_context.h"

namespace millrace::tracing {

std::unique_ptr<RequestTrace> Tracer::Begin(const Arrival& arrival, TimePoint now) const {
  std::optional<TraceContext> parent;
  if (!arrival.traceparent.empty())
    parent = ParseTraceparent(arrival.traceparent, arrival.tracestate);
  const TraceId id = parent ? parent->trace_id : NewTraceId();
  if (!sampler_.ShouldSample(id, parent)) return nullptr;
  TraceContext context;
  if (parent) {
    context = *std::move(parent);
  } else {
    context.flags = TraceContext::kRandomId;
  }
  return std::make_unique<RequestTrace>(id, context, now, queue_, counts_);
}

}  // namespace millrace::tracing
