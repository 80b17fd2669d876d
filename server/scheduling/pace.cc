#include "server/scheduling/pace.h"

#include <algorithm>
#include <cmath>

#include "server/metrics/model_metrics.h"

namespace millrace::server {
namespace {

// The weight that a step keeps when the next one is reported. Steps differ in the part of their
// work that they complete, so many of them are needed; a change of load is followed within some
// forty steps.
constexpr double kKept = 31.0 / 32;
// The time over which use is averaged, the time after which it is forgotten, and the least time
// that is assumed to have been observed.
constexpr double kUseSeconds = 2;
constexpr std::chrono::seconds kForgotten{20};
constexpr std::chrono::milliseconds kLeastObserved{250};

// Returns the weight of a use `ago` before now.
double Kept(Duration ago) { return std::exp(-Seconds(ago) / kUseSeconds); }

}  // namespace

void Pace::Report(Duration took, size_t requests, double work) {
  const double seconds = Seconds(took);
  seconds_ = kKept * seconds_ + seconds;
  seconds_in_steps_ = kKept * seconds_in_steps_ + seconds * static_cast<double>(requests);
  work_ = kKept * work_ + work;
  steps_ = kKept * steps_ + 1;
  requests_ = kKept * requests_ + static_cast<double>(requests);
}

void Correction::Report(double estimate, double work) {
  // The sums are of ratios, so that a long request counts no more than a short one.
  if (estimate <= 0) return;
  estimate_ = kKept * estimate_ + 1;
  work_ = kKept * work_ + work / estimate;
}

void RecentUse::Add(TimePoint now, Duration took) {
  if (now - last_ > kForgotten) {
    seconds_ = 0;
    first_ = now - took;
  }
  seconds_ = seconds_ * Kept(now - last_) + Seconds(took);
  last_ = now;
}

double RecentUse::workers(TimePoint now) const {
  if (now - last_ > kForgotten) return 0;
  // The time since the use began, as far as it still counts.
  const Duration observed = std::max<Duration>(now - first_, kLeastObserved);
  return seconds_ * Kept(now - last_) / (kUseSeconds * (1 - Kept(observed)));
}

}  // namespace millrace::server
