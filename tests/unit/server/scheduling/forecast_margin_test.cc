#include "server/scheduling/forecast_margin.h"

#include <gtest/gtest.h>

namespace millrace::server {
namespace {

// Requests end that were forecast ten seconds each, and take so many times as long.
void Take(ForecastMargin& margin, double ratio, int requests = 1000) {
  for (int i = 0; i < requests; ++i) margin.Record(10 * ratio, margin.Expect(10));
}

TEST(ForecastMarginTest, BeforeAnythingIsKnownAddsAQuarter) {
  EXPECT_DOUBLE_EQ(ForecastMargin().factor(), 1.25);
}

TEST(ForecastMarginTest, ForecastsThatHoldNeedNone) {
  ForecastMargin margin;
  Take(margin, 1);
  EXPECT_NEAR(margin.factor(), 1, 1e-3);
}

TEST(ForecastMarginTest, FollowsForecastsThatAreTooLowByAConstantPart) {
  ForecastMargin margin;
  Take(margin, 1.3);
  EXPECT_NEAR(margin.factor(), 1.3, 1e-3);
  EXPECT_NEAR(margin.Expect(10).expected, 13, 1e-2);
}

TEST(ForecastMarginTest, ForecastsThatAreTooHighAreNotShortened) {
  ForecastMargin margin;
  Take(margin, 0.5);
  EXPECT_EQ(margin.factor(), 1);
}

TEST(ForecastMarginTest, AddsFourMeanDeviations) {
  ForecastMargin margin;
  for (int i = 0; i < 1000; ++i) {
    Take(margin, 0.9, 1);
    Take(margin, 1.1, 1);
  }
  EXPECT_NEAR(margin.factor(), 1.4, 0.02);
}

// Facts that were learned after a request came did not help it.
TEST(ForecastMarginTest, DeviationIsFromWhatWasExpectedWhenTheRequestCame) {
  ForecastMargin margin;
  const ForecastMargin::Made before = margin.Expect(10);
  Take(margin, 1.2);
  EXPECT_NEAR(margin.factor(), 1.2, 1e-3);
  for (int i = 0; i < 1000; ++i) margin.Record(12, before);
  EXPECT_NEAR(margin.factor(), 1.2 + 4 * 0.2, 1e-3);
}

TEST(ForecastMarginTest, RequestThatWasGivenUpLateWidensIt) {
  ForecastMargin ended, given_up;
  Take(ended, 1.1, 100);
  Take(given_up, 1.1, 100);
  for (int i = 0; i < 10; ++i) given_up.RecordGivenUp(14, given_up.Expect(10));
  EXPECT_GT(given_up.factor(), ended.factor());
}

TEST(ForecastMarginTest, RequestThatWasGivenUpBeforeItShouldHaveEndedTellsNothing) {
  ForecastMargin margin;
  Take(margin, 1.2);
  const double before = margin.factor();
  for (int i = 0; i < 1000; ++i) margin.RecordGivenUp(11.9, margin.Expect(10));
  EXPECT_EQ(margin.factor(), before);
}

TEST(ForecastMarginTest, RequestThatWasGivenUpNeverNarrowsIt) {
  ForecastMargin margin;
  for (int i = 0; i < 1000; ++i) {
    const double before = margin.factor();
    margin.RecordGivenUp(margin.Expect(10).expected + 0.001, margin.Expect(10));
    EXPECT_GE(margin.factor(), before);
  }
}

TEST(ForecastMarginTest, OneRequestHardlyMovesItHoweverLateItIs) {
  ForecastMargin margin;
  Take(margin, 1);
  margin.Record(1e9, margin.Expect(10));
  EXPECT_LT(margin.factor(), 1.1);
}

TEST(ForecastMarginTest, NoFloodOfLateRequestsDrivesItBeyondItsBound) {
  ForecastMargin margin;
  for (int i = 0; i < 1000; ++i) {
    margin.Record(1e9, margin.Expect(10));
    margin.RecordGivenUp(1e9, margin.Expect(10));
    margin.Record(0, margin.Expect(10));
  }
  EXPECT_LE(margin.factor(), ForecastMargin::kMost);
}

TEST(ForecastMarginTest, RecoversFromItsBound) {
  ForecastMargin margin;
  Take(margin, 1e9);
  EXPECT_EQ(margin.factor(), ForecastMargin::kMost);
  Take(margin, 1);
  EXPECT_NEAR(margin.factor(), 1, 1e-3);
}

TEST(ForecastMarginTest, WithoutAForecastNothingIsLearned) {
  ForecastMargin margin;
  margin.Record(100, {});
  margin.RecordGivenUp(100, {});
  margin.Record(100, margin.Expect(0));
  EXPECT_DOUBLE_EQ(margin.factor(), 1.25);
}

}  // namespace
}  // namespace millrace::server
