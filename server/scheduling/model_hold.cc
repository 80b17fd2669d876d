#include "server/scheduling/model_hold.h"

#include <algorithm>
#include <chrono>

#include "models/core/strings.h"
#include "server/metrics/model_metrics.h"
#include "server/scheduling/refusal.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

// A request is admitted even if it has only this part of the last load's time left: the next load
// may be faster than the last one, whose files had to be read from the disk.
constexpr double kHopefulPart = 0.5;

}  // namespace

void ModelHold::Release() {
  hold_.reset();
  wanted_at_.reset();
}

std::function<void(Hold::Job)> ModelHold::Want(TimePoint now) {
  if (!wanted_at_) wanted_at_ = now;
  return hold_->wanted;
}

Duration ModelHold::TimeLeft(TimePoint now) const {
  if (!wanted_at_) return hold_->load_time;
  return std::max(Duration{}, hold_->load_time - (now - *wanted_at_));
}

double ModelHold::ExpectedWait(TimePoint now) const {
  return wanted_at_ ? Seconds(TimeLeft(now)) : 0;
}

absl::Status ModelHold::Admit(const Job& job, TimePoint now) const {
  const TimePoint deadline = job.request.deadline();
  const double left = Seconds(TimeLeft(now));
  if (deadline == TimePoint::max() || kHopefulPart * left <= Seconds(deadline - now))
    return absl::OkStatus();
  return Refused(Refusal::kLoading,
                 StrCat("model '", job.model->info().name,
                        "' is being loaded, which takes longer than this request has time"),
                 std::chrono::duration<double>(left));
}

}  // namespace millrace::server
