// The parts of ModelQueue that tell keys apart.
#include <array>
#include <optional>
#include <utility>

#include "server/metrics/model_metrics.h"
#include "server/scheduling/model_queue.h"

namespace millrace::server {

void ModelQueue::TakeByKey(size_t most, TimePoint now, const void* where, Popped& popped) {
  // The next jobs of each key and priority, by line.
  struct Lane {
    FairShare share;
    std::array<std::vector<size_t>, 3> jobs{};
    std::array<size_t, 3> next{};
  };
  const std::array<Line*, 3> lines = {&lines_.started, &lines_.quick, &lines_.fresh};
  std::vector<Lane> lanes;
  std::vector<size_t> lane_of;  // 1 + the index of a lane, by key and priority; 0: none
  for (size_t l = 0; l < lines.size(); ++l) {
    for (size_t i = 0; i < lines[l]->size(); ++i) {
      const Job& job = *(*lines[l])[i];
      if (!Fits(job, where)) continue;
      const FairShare& share = job.share;
      const size_t at = share.key * kPriorities + static_cast<size_t>(share.priority);
      if (lane_of.size() <= at) lane_of.resize(at + 1);
      if (lane_of[at] == 0) {
        lanes.push_back({.share = share});
        lane_of[at] = lanes.size();
      }
      std::vector<size_t>& jobs = lanes[lane_of[at] - 1].jobs[l];
      if (jobs.size() < most) jobs.push_back(i);
    }
  }
  size_t started_left = lines_.started.size();
  const auto may_take = [&](const Lane& lane, size_t line) {
    if (line == 0 || started_left == 0) return true;
    if (line == 1) return MayBeginQuick();
    // The long line of one key does not keep another from having a request under way.
    return MayBeginFresh() || (!keys_.IsUnderWay(lane.share) && MayBeginQuick());
  };
  while (popped.batch.size() < most) {
    Lane* best = nullptr;
    size_t best_line = 0;
    std::pair<double, TimePoint> best_turn;
    for (Lane& lane : lanes) {
      const double turn = keys_.Turn(lane.share);
      for (size_t l = 0; l < lines.size(); ++l) {
        if (lane.next[l] == lane.jobs[l].size() || !may_take(lane, l)) continue;
        const std::pair candidate(turn, (*lines[l])[lane.jobs[l][lane.next[l]]]->enqueued);
        if (best != nullptr && best_turn <= candidate) continue;
        best = &lane;
        best_line = l;
        best_turn = candidate;
      }
    }
    if (best == nullptr) break;
    const JobLines::Place place{lines[best_line], best->jobs[best_line][best->next[best_line]]};
    const bool alone = (*place.line)[place.index]->alone;
    if (alone && !popped.batch.empty()) break;
    ++best->next[best_line];
    if (best_line == 0) --started_left;
    if (HandOut(TakeOut(place), now, popped) && alone) break;
  }
  lines_.CloseGaps();
}

void ModelQueue::ChargeKeys(const std::vector<std::unique_ptr<Job>>& batch, Duration took) {
  if (batch.front()->share.key == 0) return;
  double work = 0;
  for (const auto& job : batch) work += job->request.work_done();
  for (const auto& job : batch) {
    const double part =
        work > 0 ? job->request.work_done() / work : 1 / static_cast<double>(batch.size());
    job->step_share = std::chrono::duration_cast<Duration>(took * part);
    keys_.Charge(job->share, Seconds(took) * part, job->charged);
    job->charged = 0;
  }
}

std::optional<JobLines::Place> ModelQueue::FindToDisplace(const Job& newcomer) {
  const size_t key = keys_.KeyToDisplace(newcomer.share);
  if (key == 0) return std::nullopt;
  for (Line* line : {&lines_.fresh, &lines_.quick}) {
    for (size_t i = line->size(); i > 0; --i) {
      const Job& job = *(*line)[i - 1];
      if (job.share.key == key && job.may_be_refused) return JobLines::Place{line, i - 1};
    }
  }
  return std::nullopt;
}

std::unique_ptr<Job> ModelQueue::MakeRoomFor(const Job& newcomer) {
  if (size() < capacity_) return nullptr;
  const std::optional<JobLines::Place> place = FindToDisplace(newcomer);
  if (!place) return nullptr;
  std::unique_ptr<Job> job = lines_.Take(*place);
  OnLeave(*place->line, *job);
  return job;
}

}  // namespace millrace::server
