#include "server/scheduling/forecast_margin.h"

#include <algorithm>
#include <cmath>

namespace millrace::server {
namespace {

constexpr double kDeviations = 4;
// These weights are lower than TCP's eighth and quarter, since many requests end in the time of a
// few steps. The deviation gets the lower weight, because it counts fourfold.
constexpr double kMeanWeight = 1.0 / 32;
constexpr double kDeviationWeight = 1.0 / 64;

}  // namespace

double ForecastMargin::factor() const {
  return std::clamp(mean_ + kDeviations * deviation_, 1.0, kMost);
}

void ForecastMargin::Record(double seconds, const Made& made) {
  if (made.seconds <= 0) return;
  const double ratio = std::min(seconds / made.seconds, kMost);
  const double error = std::abs(ratio - made.expected / made.seconds);
  mean_ += kMeanWeight * (ratio - mean_);
  deviation_ += kDeviationWeight * (error - deviation_);
}

void ForecastMargin::RecordGivenUp(double seconds, const Made& made) {
  if (seconds <= made.expected) return;
  // A lower bound never shows that a smaller margin would be enough.
  const ForecastMargin before = *this;
  Record(seconds, made);
  mean_ = std::max(mean_, before.mean_);
  deviation_ = std::max(deviation_, before.deviation_);
}

}  // namespace millrace::server
