#include "server/tracing/otlp/span_encoder.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <type_traits>
#include <variant>

#include "models/text/unicode.h"
#include "opentelemetry/proto/collector/trace/v1/trace_service.pb.h"

namespace millrace::tracing {
namespace {

namespace otlp = opentelemetry::proto;

// Bits of the field `flags` beside those of W3C.
constexpr uint32_t kRemoteIsKnown = 0x100;
constexpr uint32_t kIsRemote = 0x200;

// The longest text that is sent as one value. A collector refuses messages beyond a few megabytes.
constexpr size_t kMaxText = 1024;

std::string Text(std::string_view text) {
  std::string kept(text.substr(0, kMaxText));
  if (models::IsValidUtf8(kept)) return kept;
  std::ranges::replace_if(
      kept, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return kept;
}

template <typename Id>
std::string Bytes(const Id& id) {
  return {id.begin(), id.end()};
}

uint64_t UnixNanoseconds(TimePoint time, int64_t offset) {
  const auto since_start =
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch());
  return static_cast<uint64_t>(std::max<int64_t>(since_start.count() + offset, 0));
}

void Set(const Attribute& attribute, otlp::common::v1::KeyValue& pair) {
  pair.set_key(std::string(attribute.key));
  otlp::common::v1::AnyValue& value = *pair.mutable_value();
  std::visit(
      [&value](const auto& v) {
        using Value = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<Value, int64_t>) {
          value.set_int_value(v);
        } else if constexpr (std::is_same_v<Value, double>) {
          value.set_double_value(v);
        } else if constexpr (std::is_same_v<Value, bool>) {
          value.set_bool_value(v);
        } else {
          value.set_string_value(Text(v));
        }
      },
      attribute.value);
}

void Set(const Span& span, const TraceRecord& record, bool parent_is_remote,
         otlp::trace::v1::Span& out) {
  out.set_trace_id(Bytes(record.trace_id));
  out.set_span_id(Bytes(span.id));
  out.set_trace_state(record.state);
  if (IsValid(span.parent)) out.set_parent_span_id(Bytes(span.parent));
  out.set_name(Text(span.name));
  out.set_kind(span.kind == Span::Kind::kServer ? otlp::trace::v1::Span::SPAN_KIND_SERVER
                                                : otlp::trace::v1::Span::SPAN_KIND_INTERNAL);
  out.set_start_time_unix_nano(UnixNanoseconds(span.begin, record.unix_offset_ns));
  out.set_end_time_unix_nano(UnixNanoseconds(span.end, record.unix_offset_ns));
  for (const Attribute& attribute : span.attributes) Set(attribute, *out.add_attributes());
  for (const SpanLink& link : span.links) {
    auto& added = *out.add_links();
    added.set_trace_id(Bytes(link.trace_id));
    added.set_span_id(Bytes(link.span_id));
    added.set_flags(kRemoteIsKnown | 1);
  }
  out.set_dropped_links_count(span.dropped_links);
  if (span.failed) {
    out.mutable_status()->set_code(otlp::trace::v1::Status::STATUS_CODE_ERROR);
    out.mutable_status()->set_message(Text(span.error));
  }
  out.set_flags(record.flags | kRemoteIsKnown | (parent_is_remote ? kIsRemote : 0));
}

}  // namespace

void EncodeSpans(const std::vector<TraceRecord>& batch, const ResourceAttributes& resource,
                 OtlpRequest& request) {
  otlp::trace::v1::ResourceSpans& process = *request.add_resource_spans();
  for (const auto& [key, value] : resource) {
    auto& pair = *process.mutable_resource()->add_attributes();
    pair.set_key(key);
    pair.mutable_value()->set_string_value(value);
  }
  otlp::trace::v1::ScopeSpans& scope = *process.add_scope_spans();
  scope.mutable_scope()->set_name("millrace");
  for (const TraceRecord& record : batch) {
    bool parent_is_remote = record.parent_is_remote;  // the first span's
    for (const Span& span : record.spans) {
      Set(span, record, parent_is_remote, *scope.add_spans());
      parent_is_remote = false;
    }
  }
}

}  // namespace millrace::tracing
