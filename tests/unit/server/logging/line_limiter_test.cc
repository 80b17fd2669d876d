#include "server/logging/line_limiter.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/fakes/fake_clock.h"

namespace millrace::logging {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(LineLimiterTest, ABurstPassesThenOneForEachInterval) {
  testing::FakeClock clock;
  LineLimiter lines(3, seconds(10), clock);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(lines.Pass(), 0U);
  EXPECT_EQ(lines.Pass(), std::nullopt);
  clock.Advance(milliseconds(9999));
  EXPECT_EQ(lines.Pass(), std::nullopt);
  clock.Advance(milliseconds(1));
  EXPECT_EQ(lines.Pass(), 2U);
  EXPECT_EQ(lines.Pass(), std::nullopt);
}

TEST(LineLimiterTest, AfterAQuietTimeABurstPassesAgain) {
  testing::FakeClock clock;
  LineLimiter lines(3, seconds(10), clock);
  while (lines.Pass()) {
  }
  clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(lines.Pass(), 1U);
  EXPECT_EQ(lines.Pass(), 0U);
  EXPECT_EQ(lines.Pass(), 0U);
  EXPECT_EQ(lines.Pass(), std::nullopt);
}

}  // namespace
}  // namespace millrace::logging
