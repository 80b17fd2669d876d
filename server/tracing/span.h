#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "server/tracing/ids.h"

namespace millrace::tracing {

// A key and its value. Keys are literals.
struct Attribute {
  std::string_view key;
  std::variant<int64_t, double, bool, std::string> value;
};

// The place of a span that another one points to.
struct SpanLink {
  TraceId trace_id{};
  SpanId span_id{};
};

// A part of a request's time, once it is over. Plain data.
struct Span {
  enum class Kind : uint8_t { kInternal, kServer };

  SpanId id{};
  SpanId parent{};  // none for the root of a trace
  std::string name;
  Kind kind = Kind::kInternal;
  TimePoint begin{};
  TimePoint end{};
  std::vector<Attribute> attributes;
  std::vector<SpanLink> links;
  uint32_t dropped_links = 0;
  bool failed = false;
  std::string error;  // the error of a span that failed
};

// The spans of a request, of which the first is that of the server as a whole.
struct TraceRecord {
  TraceId trace_id{};
  uint8_t flags = 0;
  std::string state;  // as the client sent it
  bool parent_is_remote = false;
  int64_t unix_offset_ns = 0;  // to be added to a TimePoint for the time since 1970
  std::vector<Span> spans;
};

}  // namespace millrace::tracing
