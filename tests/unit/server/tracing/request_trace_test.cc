#include "server/tracing/request_trace.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "server/tracing/tracer.h"

namespace millrace::tracing {
namespace {

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr char kParent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class RequestTraceTest : public ::testing::Test {
 protected:
  TraceRecord TakeOne() {
    auto batch = queue_.Take(TimePoint());
    EXPECT_EQ(batch.size(), 1U);
    return batch.empty() ? TraceRecord() : std::move(batch.front());
  }

  SpanCounts counts_;
  TraceQueue queue_{{}, counts_};
  const Tracer tracer_{Sampler(1, true), queue_, counts_};
};

TEST_F(RequestTraceTest, BeginsATraceOfItsOwn) {
  const auto trace = tracer_.Begin({}, kStart);
  trace->Add("queue", kStart, kStart + std::chrono::seconds(1));
  trace->Finish({.name = "m", .time = kStart + std::chrono::seconds(2)});
  const TraceRecord record = TakeOne();
  EXPECT_TRUE(IsValid(record.trace_id));
  EXPECT_EQ(record.flags, TraceContext::kSampled | TraceContext::kRandomId);
  EXPECT_FALSE(record.parent_is_remote);
  ASSERT_EQ(record.spans.size(), 2U);
  const Span& server = record.spans[0];
  EXPECT_EQ(server.name, "m");
  EXPECT_EQ(server.kind, Span::Kind::kServer);
  EXPECT_FALSE(IsValid(server.parent));
  EXPECT_EQ(server.begin, kStart);
  EXPECT_EQ(server.end, kStart + std::chrono::seconds(2));
  EXPECT_EQ(record.spans[1].name, "queue");
  EXPECT_EQ(record.spans[1].parent, server.id);
  EXPECT_TRUE(IsValid(record.spans[1].id));
}

TEST_F(RequestTraceTest, ContinuesTheTraceOfItsClient) {
  const auto trace = tracer_.Begin({.traceparent = kParent, .tracestate = "a=b"}, kStart);
  trace->Finish({.name = "m", .time = kStart});
  const TraceRecord record = TakeOne();
  EXPECT_EQ(ToHex(record.trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(ToHex(record.spans[0].parent), "00f067aa0ba902b7");
  EXPECT_EQ(record.state, "a=b");
  EXPECT_TRUE(record.parent_is_remote);
}

TEST_F(RequestTraceTest, ABadParentBeginsATrace) {
  const auto trace = tracer_.Begin({.traceparent = "00-zz", .tracestate = "a=b"}, kStart);
  ASSERT_NE(trace, nullptr);
  trace->Finish({.name = "m", .time = kStart});
  const TraceRecord record = TakeOne();
  EXPECT_FALSE(IsValid(record.spans[0].parent));
  EXPECT_EQ(record.state, "");
}

TEST_F(RequestTraceTest, ThereIsNoneWithoutASample) {
  const Tracer none(Sampler(0, true), queue_, counts_);
  EXPECT_EQ(none.Begin({}, kStart), nullptr);
  EXPECT_NE(none.Begin({.traceparent = kParent}, kStart), nullptr);
}

TEST_F(RequestTraceTest, KeepsOnlySoManySpans) {
  const auto trace = tracer_.Begin({}, kStart);
  for (size_t i = 0; i < RequestTrace::kMaxSpans + 4; ++i) trace->Add("queue", kStart, kStart);
  trace->Finish({.name = "m", .time = kStart});
  const TraceRecord record = TakeOne();
  EXPECT_EQ(record.spans.size(), RequestTrace::kMaxSpans);
  EXPECT_EQ(counts_.dropped(Drop::kTooMany), 5U);
  ASSERT_EQ(record.spans[0].attributes.size(), 1U);
  EXPECT_EQ(record.spans[0].attributes[0].key, "millrace.dropped_spans");
  EXPECT_EQ(std::get<int64_t>(record.spans[0].attributes[0].value), 5);
}

TEST_F(RequestTraceTest, TimesAreThoseOfTheCalendar) {
  const TimePoint now = std::chrono::steady_clock::now();
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  const auto trace = tracer_.Begin({}, now);
  trace->Finish({.name = "m", .time = now});
  const TraceRecord record = TakeOne();
  const auto begin =
      record.spans[0].begin.time_since_epoch() + std::chrono::nanoseconds(record.unix_offset_ns);
  EXPECT_LT(std::chrono::abs(std::chrono::nanoseconds(begin) - std::chrono::nanoseconds(before)),
            std::chrono::seconds(1));
}

}  // namespace
}  // namespace millrace::tracing
