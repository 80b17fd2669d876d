#include "server/tracing/otlp/span_encoder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "opentelemetry/proto/collector/trace/v1/trace_service.pb.h"
#include "server/tracing/trace_context.h"

namespace millrace::tracing {
namespace {

TEST(SpanEncoderTest, WritesAllOfASpan) {
  TraceRecord record;
  record.trace_id = NewTraceId();
  record.flags = TraceContext::kSampled;
  record.state = "a=b";
  record.parent_is_remote = true;
  record.unix_offset_ns = 1'000;
  Span server;
  server.id = NewSpanId();
  server.parent = NewSpanId();
  server.name = "m";
  server.kind = Span::Kind::kServer;
  server.begin = TimePoint(std::chrono::nanoseconds(5));
  server.end = TimePoint(std::chrono::nanoseconds(7));
  server.attributes = {{"i", int64_t{1}}, {"d", 0.5}, {"b", true}, {"s", std::string("x")}};
  server.failed = true;
  server.error = "why";
  Span forward;
  forward.id = NewSpanId();
  forward.parent = server.id;
  forward.links = {{NewTraceId(), NewSpanId()}};
  forward.dropped_links = 2;
  record.spans = {server, forward};

  OtlpRequest request;
  EncodeSpans({record}, {{"service.name", "me"}}, request);
  ASSERT_EQ(request.resource_spans_size(), 1);
  const auto& process = request.resource_spans(0);
  EXPECT_EQ(process.resource().attributes(0).key(), "service.name");
  EXPECT_EQ(process.resource().attributes(0).value().string_value(), "me");
  ASSERT_EQ(process.scope_spans(0).spans_size(), 2);
  const auto& first = process.scope_spans(0).spans(0);
  EXPECT_EQ(first.trace_id(), std::string(record.trace_id.begin(), record.trace_id.end()));
  EXPECT_EQ(first.span_id(), std::string(server.id.begin(), server.id.end()));
  EXPECT_EQ(first.parent_span_id(), std::string(server.parent.begin(), server.parent.end()));
  EXPECT_EQ(first.trace_state(), "a=b");
  EXPECT_EQ(first.name(), "m");
  EXPECT_EQ(first.kind(), 2);
  EXPECT_EQ(first.start_time_unix_nano(), 1'005U);
  EXPECT_EQ(first.end_time_unix_nano(), 1'007U);
  EXPECT_EQ(first.attributes(0).value().int_value(), 1);
  EXPECT_EQ(first.attributes(1).value().double_value(), 0.5);
  EXPECT_TRUE(first.attributes(2).value().bool_value());
  EXPECT_EQ(first.attributes(3).value().string_value(), "x");
  EXPECT_EQ(first.status().code(), 2);
  EXPECT_EQ(first.status().message(), "why");
  EXPECT_EQ(first.flags(), 0x301U);
  const auto& second = process.scope_spans(0).spans(1);
  EXPECT_EQ(second.kind(), 1);
  EXPECT_EQ(second.flags(), 0x101U);
  EXPECT_EQ(second.links_size(), 1);
  EXPECT_EQ(second.dropped_links_count(), 2U);
  EXPECT_FALSE(second.has_status());
}

// A collector refuses a whole batch for one string that is not UTF-8.
TEST(SpanEncoderTest, ForeignTextIsMadeUtf8) {
  TraceRecord record;
  Span span;
  span.name = "caf\xe9";
  span.attributes = {{"path", std::string("/\xff\xfe")}, {"long", std::string(5000, 'x')}};
  record.spans = {span};
  OtlpRequest request;
  EncodeSpans({record}, {}, request);
  const auto& out = request.resource_spans(0).scope_spans(0).spans(0);
  EXPECT_EQ(out.name(), "caf?");
  EXPECT_EQ(out.attributes(0).value().string_value(), "/??");
  EXPECT_EQ(out.attributes(1).value().string_value().size(), 1024U);
}

}  // namespace
}  // namespace millrace::tracing
