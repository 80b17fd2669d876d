#include "server/tracing/trace_queue.h"

#include <gtest/gtest.h>

#include "mps_runtime/base/joining_thread.h"

namespace millrace::tracing {
namespace {

TraceRecord Record(size_t spans) {
  TraceRecord record;
  record.spans.resize(spans);
  return record;
}

TimePoint Now() { return std::chrono::steady_clock::now(); }
TimePoint InAnHour() { return Now() + std::chrono::hours(1); }

TEST(TraceQueueTest, ATraceThatFindsNoRoomIsDroppedAndCounted) {
  SpanCounts counts;
  TraceQueue queue({.max_spans = 10, .batch_spans = 100}, counts);
  queue.Push(Record(6));
  queue.Push(Record(5));
  queue.Push(Record(4));
  EXPECT_EQ(queue.spans(), 10U);
  EXPECT_EQ(counts.dropped(Drop::kQueueFull), 5U);
  EXPECT_EQ(queue.Take(Now()).size(), 2U);
  EXPECT_EQ(queue.spans(), 0U);
}

TEST(TraceQueueTest, ATraceLongerThanTheQueueIsTakenAlone) {
  SpanCounts counts;
  TraceQueue queue({.max_spans = 3, .batch_spans = 3}, counts);
  queue.Push(Record(5));
  queue.Push(Record(1));
  EXPECT_EQ(counts.dropped(Drop::kQueueFull), 1U);
  EXPECT_EQ(queue.Take(Now()).size(), 1U);
}

TEST(TraceQueueTest, ABatchWakesTheTaker) {
  SpanCounts counts;
  TraceQueue queue({.max_spans = 100, .batch_spans = 4}, counts);
  const JoiningThread pusher([&queue] {
    for (int i = 0; i < 4; ++i) queue.Push(Record(1));
  });
  EXPECT_EQ(queue.Take(InAnHour()).size(), 4U);
}

TEST(TraceQueueTest, LessThanABatchIsTakenWhenTheTimeHasCome) {
  SpanCounts counts;
  TraceQueue queue({}, counts);
  queue.Push(Record(1));
  EXPECT_EQ(queue.Take(Now()).size(), 1U);
  EXPECT_EQ(queue.Take(Now()).size(), 0U);
}

TEST(TraceQueueTest, ABatchIsNotMuchMoreThanOne) {
  SpanCounts counts;
  TraceQueue queue({.max_spans = 100, .batch_spans = 4}, counts);
  for (int i = 0; i < 5; ++i) queue.Push(Record(3));
  EXPECT_EQ(queue.Take(Now()).size(), 2U);
}

TEST(TraceQueueTest, OnceItIsClosedNobodyWaits) {
  SpanCounts counts;
  TraceQueue queue({}, counts);
  queue.Push(Record(1));
  const JoiningThread closer([&queue] { queue.Close(); });
  EXPECT_FALSE(queue.Sleep(InAnHour()));
  EXPECT_EQ(queue.Take(InAnHour()).size(), 1U);
  EXPECT_EQ(queue.Take(InAnHour()).size(), 0U);
  queue.Push(Record(2));
  EXPECT_EQ(counts.dropped(Drop::kQueueFull), 2U);
}

}  // namespace
}  // namespace millrace::tracing
