// Looks for headers of W3C Trace Context of which the parser makes ids that are not in them, or
// keeps a state that is not in it or breaks its limits. The first line is traceparent, the rest
// tracestate.
//
// usage: traceparent_fuzz [-max_total_time=60] tests/fuzz/seeds/traceparent

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/tracing/trace_context.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using millrace::Require;
  using namespace millrace::tracing;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(bytes.find('\n'), size);
  const std::string_view parent = bytes.substr(0, end);
  const std::string_view state = bytes.substr(std::min(end + 1, size));
  const auto context = ParseTraceparent(parent, state);
  if (!context) return 0;
  Require(IsValid(context->trace_id) && IsValid(context->span_id), "an id is zero");
  const size_t begin = parent.find_first_not_of(" \t");
  Require(parent.substr(begin + 3, 32) == ToHex(context->trace_id), "another trace id");
  Require(parent.substr(begin + 36, 16) == ToHex(context->span_id), "another span id");
  Require(context->flags <= 3, "unknown flags");
  Require(context->state.size() <= kMaxStateBytes, "a long state");
  Require(state.find(context->state) != state.npos, "another state");
  const auto is_visible = [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); };
  Require(std::ranges::all_of(context->state, is_visible), "a state that is no header");
  TraceContext again = *ParseTraceparent(parent, context->state);
  Require(again == *context, "the state is not read again as it was");
  return 0;
}
