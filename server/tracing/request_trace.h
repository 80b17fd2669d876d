#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/tracing/span.h"
#include "server/tracing/trace_context.h"
#include "server/tracing/trace_queue.h"

namespace millrace::tracing {

// The spans of one sampled request, which are given to the queue together once it has ended. A
// request that is not sampled has none of these. Thread-safe; Add takes an uncontended lock.
class RequestTrace {
 public:
  // The most spans of a request; further ones are counted and dropped, so that a long text does not
  // displace all other requests.
  static constexpr size_t kMaxSpans = 256;

  // parent: the client's span, or a context without a span id. The queue and the counts must
  // outlive it.
  RequestTrace(TraceId id, const TraceContext& parent, TimePoint begin, TraceQueue& queue,
               SpanCounts& counts);
  RequestTrace(const RequestTrace&) = delete;
  RequestTrace& operator=(const RequestTrace&) = delete;

  const TraceId& id() const { return id_; }
  // Returns the id of the server's span.
  const SpanId& root() const { return root_; }

  // Adds a part of the request. A span without an id gets one; its parent is the server's span.
  void Add(Span span) MILLRACE_EXCLUDES(mu_);
  void Add(std::string_view name, TimePoint begin, TimePoint end) MILLRACE_EXCLUDES(mu_);

  // The request as a whole, once it has ended.
  struct End {
    std::string name;
    TimePoint time{};
    std::vector<Attribute> attributes = {};
    bool failed = false;
    std::string error = {};
  };
  // Hands all spans to the queue. Must be called at most once, after the last Add.
  void Finish(End end) MILLRACE_EXCLUDES(mu_);

 private:
  const TraceId id_;
  const SpanId root_ = NewSpanId();
  const TraceContext parent_;
  const TimePoint begin_;
  const int64_t unix_offset_ns_;
  TraceQueue& queue_;
  SpanCounts& counts_;

  Mutex mu_;
  std::vector<Span> spans_ MILLRACE_GUARDED_BY(mu_);
  uint64_t dropped_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::tracing
