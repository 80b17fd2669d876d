#include "server/scheduling/pace.h"

#include <algorithm>
#include <cmath>

#include "server/metrics/model_metrics.h"

namespace millrace::server {
namespace {

// What a step still counts once the next is reported. Steps differ in how much of the work that
// they do is completed with them, so many are needed; a change of load is followed within some
// forty.
constexpr double kKept = 31.0 / 32;
// Over which use is averaged, and after which nothing of it counts.
constexpr double kUseSeconds = 2;
constexpr std::chrono::seconds kForgotten{20};
constexpr std::chrono::milliseconds kLeastObserved{250};

// What counts of a use so long ago.
double Kept(Duration ago) { return std::exp(-Seconds(ago) / kUseSeconds); }

}  // namespace

void Pace::Report(Duration took, size_t requests, double work) {
  const double seconds = Seconds(took);
  seconds_ = kKept * seconds_ + seconds;
  seconds_in_steps_ = kKept * seconds_in_steps_ + seconds * static_cast<double>(requests);
  work_ = kKept * work_ + work;
  steps_ = kKept * steps_ + 1;
}

void Correction::Report(double estimate, double work) {
  // The sums are of shares, so that a long request tells no more than a short one.
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
  // Of the time since it began, as far as that counts.
  const Duration observed = std::max<Duration>(now - first_, kLeastObserved);
  return seconds_ * Kept(now - last_) / (kUseSeconds * (1 - Kept(observed)));
}

}  // namespace millrace::server
