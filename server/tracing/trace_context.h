#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/tracing/ids.h"

namespace millrace::tracing {

// The span of a client that a request belongs to, as W3C Trace Context has it.
struct TraceContext {
  static constexpr uint8_t kSampled = 1;
  static constexpr uint8_t kRandomId =
      2;  // the trace id is random, as version 2 of the text has it

  TraceId trace_id{};
  SpanId span_id{};
  uint8_t flags = 0;
  std::string state;  // the header tracestate, to be passed on; empty if there is none

  bool sampled() const { return (flags & kSampled) != 0; }
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

// The longest tracestate that is passed on, in bytes.
inline constexpr size_t kMaxStateBytes = 1024;

// Reads the header traceparent: version 00 exactly as it is written, a later version as far as it
// is known. Returns nullopt for anything else: the request then begins a trace. `tracestate` is
// kept if it is well-formed, has at most 32 members and at most kMaxStateBytes; otherwise it is
// dropped.
std::optional<TraceContext> ParseTraceparent(std::string_view traceparent,
                                             std::string_view tracestate);

}  // namespace millrace::tracing
