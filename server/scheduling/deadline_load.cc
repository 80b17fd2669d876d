#include "server/scheduling/deadline_load.h"

#include <algorithm>
#include <limits>

#include "server/metrics/model_metrics.h"

namespace millrace::server {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void DeadlineLoad::Begin(TimePoint now, double before, size_t at_once) {
  now_ = now;
  before_ = before;
  at_once_ = at_once;
  entries_.clear();
}

double DeadlineLoad::TimeUntil(TimePoint deadline) const {
  return std::max(0.0, Seconds(deadline - now_) - before_);
}

void DeadlineLoad::Add(TimePoint deadline, double seconds, double alone) {
  if (deadline <= now_) return;
  const double left = TimeUntil(deadline);
  const double due = std::min(seconds, left);
  entries_.push_back({.deadline = deadline, .due = due, .alone = std::clamp(alone, due, left)});
}

void DeadlineLoad::Build() {
  std::ranges::sort(entries_, {}, &Entry::deadline);
  double due = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    // The first requests begin at once; the others begin when all of the work before them has been
    // shared out.
    entry.end = (i < at_once_ ? 0 : due) + entry.alone;
    due += entry.due;
    entry.due = due;
    entry.end = std::max(entry.end, due);
  }
  double room = kInfinity;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    room = std::min(room, TimeUntil(entry->deadline) - entry->end);
    entry->room = room;
  }
}

double DeadlineLoad::DueBy(TimePoint deadline) const {
  const auto after = std::ranges::upper_bound(entries_, deadline, {}, &Entry::deadline);
  return after == entries_.begin() ? 0 : std::prev(after)->due;
}

double DeadlineLoad::Room(TimePoint from) const {
  const auto first = std::ranges::lower_bound(entries_, from, {}, &Entry::deadline);
  return first == entries_.end() ? kInfinity : first->room;
}

double DeadlineLoad::Excess(double stretch, TimePoint* deadline) const {
  double worst = -kInfinity;
  for (const Entry& entry : entries_) {
    const double excess = stretch * entry.end - TimeUntil(entry.deadline);
    if (excess <= worst) continue;
    worst = excess;
    if (deadline != nullptr) *deadline = entry.deadline;
  }
  return worst;
}

}  // namespace millrace::server
