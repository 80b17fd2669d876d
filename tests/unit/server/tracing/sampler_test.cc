#include "server/tracing/sampler.h"

#include <gtest/gtest.h>

namespace millrace::tracing {
namespace {

TraceContext Parent(bool sampled) {
  TraceContext parent;
  parent.trace_id = NewTraceId();
  parent.span_id = NewSpanId();
  parent.flags = sampled ? TraceContext::kSampled : 0;
  return parent;
}

TEST(SamplerTest, SamplesItsShareOfTheTraces) {
  const Sampler sampler(0.25, true);
  int sampled = 0;
  constexpr int kTraces = 20'000;
  for (int i = 0; i < kTraces; ++i) sampled += sampler.ShouldSample(NewTraceId(), std::nullopt);
  // Seven standard deviations.
  EXPECT_NEAR(sampled, kTraces / 4, 430);
}

TEST(SamplerTest, AllOrNoneAreExact) {
  TraceId greatest;
  greatest.fill(0xff);
  TraceId least{};
  least[0] = 1;
  for (const TraceId& id : {greatest, least}) {
    EXPECT_TRUE(Sampler(1, true).ShouldSample(id, std::nullopt));
    EXPECT_FALSE(Sampler(0, true).ShouldSample(id, std::nullopt));
  }
  EXPECT_TRUE(Sampler(0.5, true).ShouldSample(least, std::nullopt));
  EXPECT_FALSE(Sampler(0.5, true).ShouldSample(greatest, std::nullopt));
}

TEST(SamplerTest, TheClientDecidesForItsOwnTraces) {
  const auto sampled = Parent(true);
  const auto unsampled = Parent(false);
  EXPECT_TRUE(Sampler(0, true).ShouldSample(sampled.trace_id, sampled));
  EXPECT_FALSE(Sampler(1, true).ShouldSample(unsampled.trace_id, unsampled));
}

TEST(SamplerTest, UnlessTheRatioIsForAll) {
  const auto sampled = Parent(true);
  const auto unsampled = Parent(false);
  EXPECT_FALSE(Sampler(0, false).ShouldSample(sampled.trace_id, sampled));
  EXPECT_TRUE(Sampler(1, false).ShouldSample(unsampled.trace_id, unsampled));
}

}  // namespace
}  // namespace millrace::tracing
