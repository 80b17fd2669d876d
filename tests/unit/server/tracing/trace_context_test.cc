#include "server/tracing/trace_context.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::tracing {
namespace {

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kSpan[] = "00f067aa0ba902b7";

std::string Header(const std::string& version, const std::string& trace, const std::string& span,
                   const std::string& flags) {
  return version + "-" + trace + "-" + span + "-" + flags;
}
std::string Good() { return Header("00", kTrace, kSpan, "01"); }

TEST(TraceContextTest, ReadsTheIdsAndTheFlags) {
  const auto context = ParseTraceparent(Good(), "");
  ASSERT_TRUE(context);
  EXPECT_EQ(ToHex(context->trace_id), kTrace);
  EXPECT_EQ(ToHex(context->span_id), kSpan);
  EXPECT_TRUE(context->sampled());
  EXPECT_FALSE(ParseTraceparent(Header("00", kTrace, kSpan, "00"), "")->sampled());
  EXPECT_TRUE(ParseTraceparent(" " + Good() + "\t", ""));
}

// Flags that are not known must not be passed on.
TEST(TraceContextTest, KeepsOnlyTheFlagsThatItKnows) {
  EXPECT_EQ(ParseTraceparent(Header("00", kTrace, kSpan, "ff"), "")->flags,
            TraceContext::kSampled | TraceContext::kRandomId);
}

TEST(TraceContextTest, ALaterVersionIsReadAsFarAsItIsKnown) {
  EXPECT_TRUE(ParseTraceparent(Header("cc", kTrace, kSpan, "01"), ""));
  EXPECT_TRUE(ParseTraceparent(Header("01", kTrace, kSpan, "01") + "-what-comes", ""));
  EXPECT_FALSE(ParseTraceparent(Header("01", kTrace, kSpan, "01") + ".what", ""));
  EXPECT_FALSE(ParseTraceparent(Header("ff", kTrace, kSpan, "01"), ""));
}

TEST(TraceContextTest, AnythingElseBeginsATrace) {
  const std::string upper = "4BF92f3577b34da6a3ce929d0e0e4736";
  for (const std::string& header :
       {std::string(), std::string("00"), Good() + "-", Good() + "0", Good().substr(0, 54),
        Header("00", upper, kSpan, "01"), Header("0g", kTrace, kSpan, "01"),
        Header("00", kTrace, kSpan, "0x"), Header("00", std::string(32, '0'), kSpan, "01"),
        Header("00", kTrace, std::string(16, '0'), "01"), std::string(55, '-'),
        "00_" + Good().substr(3)})
    EXPECT_FALSE(ParseTraceparent(header, "a=b")) << header;
}

TEST(TraceContextTest, KeepsAWellFormedState) {
  for (const std::string& state :
       {std::string("a=b"), std::string("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
        std::string("tenant@system=x, b=y ,,c=z"), std::string("1t@s=v"),
        "a=" + std::string(256, 'v')})
    EXPECT_EQ(ParseTraceparent(Good(), state)->state, state);
}

TEST(TraceContextTest, DropsAStateThatIsNot) {
  std::string many;
  for (int i = 0; i < 33; ++i) many += "k" + std::to_string(i) + "=v,";
  for (const std::string& state :
       {std::string("a"), std::string("=b"), std::string("A=b"), std::string("a=b,a=c"),
        std::string("a=\x01"), std::string("a=b=c"), std::string("1a=b"), std::string("a@=b"),
        std::string("@b=c"), std::string("a="), std::string(","), many,
        "a=" + std::string(257, 'v'),
        "a=" + std::string(200, 'v') + ",b=" + std::string(900, 'w')}) {
    const auto context = ParseTraceparent(Good(), state);
    ASSERT_TRUE(context) << state;
    EXPECT_EQ(context->state, "") << state;
  }
}

TEST(TraceContextTest, IdsAreRandomAndValid) {
  const TraceId first = NewTraceId();
  EXPECT_TRUE(IsValid(first));
  EXPECT_NE(first, NewTraceId());
  EXPECT_NE(NewSpanId(), NewSpanId());
}

}  // namespace
}  // namespace millrace::tracing
