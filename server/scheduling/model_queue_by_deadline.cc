// The parts of ModelQueue that look at deadlines: which jobs are next, or refused, where work would
// be late if requests took turns.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "models/core/strings.h"
#include "server/metrics/model_metrics.h"
#include "server/scheduling/deadline_order.h"
#include "server/scheduling/model_queue.h"
#include "server/scheduling/refusal.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

// The number of jobs of each line that are considered when the earliest deadline goes first.
constexpr size_t kMostCandidates = 256;

}  // namespace

void ModelQueue::TakeByDeadline(size_t most, TimePoint now, double workers, const void* where,
                                Popped& popped) {
  struct Candidate {
    TimePoint deadline;
    double work;
    Line* line;
    size_t index;
    bool given_up = false;
    double turn = 0;
  };
  std::vector<Candidate> order;
  for (Line* line : {&lines_.started, &lines_.quick, &lines_.fresh}) {
    // The jobs of a key that has few may stand far behind.
    const size_t candidates =
        keys_.in_use() ? line->size() : std::min(line->size(), kMostCandidates);
    for (size_t i = 0; i < candidates; ++i) {
      const Job& job = *(*line)[i];
      // Much shorter requests have turns of their own, unless they have waited too long for those.
      if (!keys_.in_use() && line == &lines_.quick &&
          job.request.deadline() - now > now - job.enqueued)
        continue;
      order.push_back({job.request.deadline(), forecast_.DueWorkOf(job, now), line, i});
    }
  }
  // Running jobs continue after their step, in the order of their deadlines.
  for (const AdmissionForecast::Running& running : forecast_.running_work())
    if (running.work > 0) order.push_back({running.deadline, running.due_work, nullptr, 0});
  std::ranges::stable_sort(order, [](const Candidate& a, const Candidate& b) {
    return std::tie(a.deadline, a.work) < std::tie(b.deadline, b.work);
  });
  // A job that is given up continues when there is nothing else to do.
  std::vector<DueWork> due;
  for (const Candidate& next : order) due.push_back({next.deadline, next.work});
  const std::vector<size_t> given_up = GiveUpLongest(
      due, {.now = now,
            .at_once = forecast_.AtOnce(),
            .seconds_together = [&](double work) { return forecast_.SecondsFor(work, workers); },
            .seconds_alone = [&](double work) { return forecast_.SecondsAlone(work); }});
  for (const size_t i : given_up) order[i].given_up = true;
  if (keys_.in_use()) {
    // Among the keys it goes by turns. Each job gets the turn that it has behind those of its key.
    std::vector<size_t> seen;
    for (Candidate& next : order) {
      if (next.line == nullptr) continue;
      const FairShare& share = (*next.line)[next.index]->share;
      if (seen.size() <= share.key) seen.resize(share.key + 1);
      next.turn = keys_.Turn(share, seen[share.key]++);
    }
    std::ranges::stable_sort(order, {}, &Candidate::turn);
  }
  std::stable_partition(order.begin(), order.end(),
                        [](const Candidate& next) { return !next.given_up; });

  double work = 0;  // the batch's
  for (const Candidate& next : order) {
    if (popped.batch.size() == most) break;
    if (next.line == nullptr) continue;
    const Job& job = *(*next.line)[next.index];
    // A full batch takes no further requests that have not begun, because they would slow down the
    // others.
    const bool full = policy_.full_work > 0 && work >= policy_.full_work;
    if (next.line != &lines_.started && (full || !MayBeginQuick())) continue;
    const bool alone = job.alone;
    if ((alone && !popped.batch.empty()) || !Fits(job, where)) continue;
    work += forecast_.WorkOf(job);
    if (HandOut(TakeOut({next.line, next.index}), now, popped) && alone) break;
  }
  lines_.CloseGaps();
  // Only much shorter requests wait here, or none of the others may begin.
  if (popped.batch.empty() && popped.dropped.empty()) TakeInTurn(most, now, where, popped);
}

void ModelQueue::RefuseExcess(TimePoint now, double workers, Popped& popped) {
  TimePoint deadline;
  double excess = forecast_.Excess(deadline);
  for (size_t i = lines_.fresh.size(); i > 0 && excess > 0; --i) {
    const Job& last = *lines_.fresh[i - 1];
    if (!last.may_be_refused || last.request.deadline() > deadline) continue;
    if (keys_.PartBefore(last.share) < 1) continue;  // another key has more than its share
    excess -= forecast_.SecondsFor(forecast_.DueWorkOf(last, now), workers);
    std::unique_ptr<Job> job = TakeOut({&lines_.fresh, i - 1});
    absl::Status why = forecast_.CheckLength(*job, now);
    if (why.ok()) {
      why = Refused(Refusal::kDeadline,
                    StrCat("model '", job->model->info().name,
                           "' is slower than expected: the deadline would pass before this request "
                           "is done"),
                    std::chrono::duration<double>(forecast_.DueBy(deadline)));
    }
    job->request.Finish(std::move(why));
    popped.dropped.push_back(std::move(job));
  }
  lines_.CloseGaps();
}

}  // namespace millrace::server
