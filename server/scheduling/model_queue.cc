#include "server/scheduling/model_queue.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "models/core/strings.h"
#include "server/metrics/model_metrics.h"
#include "server/scheduling/refusal.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

// The factors by which work may take longer than forecast before it is late: kAdmitted applies to a
// newcomer, kPressed to outstanding work while requests take turns. The first is larger, so that
// turns are the rule.
constexpr double kAdmitted = 4.0 / 3;
constexpr double kPressed = 1.2;
// Work has to be done this many steps before its deadline, because the queue is only looked at when
// a step ends, and then other requests run.
constexpr double kReserveSteps = 2;
// A request that is alone on the machine is admitted even if it has only this part of the forecast
// left.
constexpr double kDoubtful = 0.5;
// The number of steps after which the pace is good enough to tell what cannot be done in time.
constexpr double kStepsToJudge = 4;
// While requests go by deadline, one batch in kQuickTurns is of much shorter requests, no more than
// what kAdmitted leaves over. At most the part kMostQuick of the workers is counted as theirs.
constexpr size_t kQuickTurns = 4;
constexpr double kMostQuick = 0.9;
// The number of jobs of each line that are considered when the earliest deadline goes first.
constexpr size_t kMostCandidates = 256;
// The load is computed again when more than this part of the requests has come or gone.
constexpr size_t kChangedPart = 16;

bool IsShort(const Job& job) { return job.service < ModelQueue::kLong; }

}  // namespace

ModelQueue::ModelQueue(const models::BatchPolicy& policy, size_t capacity, size_t all_workers)
    : policy_(policy), capacity_(capacity), all_workers_(all_workers) {}

size_t ModelQueue::UnderWayLimit() const {
  return policy_.continuous ? AtOnce() : kUnderWayPerPlace * AtOnce();
}

size_t ModelQueue::BatchSize() const {
  if (!policy_.divided) return policy_.max_batch;
  const size_t share = (requests() + all_workers_ - 1) / all_workers_;
  return std::min(share, policy_.max_batch);
}

double ModelQueue::LeftByQuick(double workers, TimePoint now) const {
  return workers - std::min(quick_use_.workers(now), kMostQuick * workers);
}

size_t ModelQueue::AtOnce() const { return all_workers_ * policy_.max_batch; }

double ModelQueue::SecondsAlone(double work) const {
  // In continuous batches several parts of a request are in a step at once.
  return work * (policy_.continuous ? pace_.seconds() : pace_.seconds_in_steps());
}

double ModelQueue::Reserve() const { return kReserveSteps * pace_.seconds_per_step(); }

bool ModelQueue::HasTimeFor(double more_work, double stretch, TimePoint now, double workers) const {
  return earliest_ == TimePoint::max() || stretch * SecondsFor(AllWork() + more_work, workers) <=
                                              Seconds(earliest_ - now) - Reserve();
}

void ModelQueue::RefreshLoad(TimePoint now, double workers) {
  if (changes_ == 0 || changes_ < requests() / kChangedPart) return;
  changes_ = 0;
  added_ = 0;
  load_.Begin(now, Reserve(), AtOnce());
  const auto add = [&](TimePoint deadline, double work) {
    if (deadline != TimePoint::max())
      load_.Add(deadline, SecondsFor(work, workers), SecondsAlone(work));
  };
  for (const Line* line : {&fresh_, &quick_, &started_}) {
    for (const auto& job : *line) add(job->request.deadline(), WorkOf(*job));
  }
  for (const Running& running : running_work_) {
    if (running.work > 0) add(running.deadline, running.work);
  }
  load_.Build();
  earliest_ = load_.earliest();
}

absl::Status ModelQueue::Admit(Job& job, TimePoint now, double workers) {
  const std::string& name = job.model->info().name;
  if (size() >= capacity_ && !FindToDisplace(job)) {
    return Refused(StrCat("the queue of model '", name, "' is full (", capacity_, " requests)"),
                   std::chrono::duration<double>(SecondsFor(AllWork(), workers)));
  }
  const TimePoint deadline = job.request.deadline();
  job.may_be_refused = true;
  if (held()) return AdmitHeld(job, now);
  if (deadline == TimePoint::max()) return absl::OkStatus();
  if (!pace_.known()) return absl::OkStatus();
  const double work = WorkOf(job);
  const double margin = margin_.factor();
  const double left = Seconds(deadline - now);
  const bool quick = IsQuick(work);
  const double all_workers = workers;
  if (!quick) workers = LeftByQuick(workers, now);
  const double service = work * pace_.seconds_in_steps() * all_workers / workers;
  const double part_before = keys_.PartBefore(job.share);
  double wait = WaitForOthers(workers, part_before);
  bool in_time = kAdmitted * margin * wait + service <= left - Reserve();
  if (!busy()) {
    // Admits a doubtful job, so that the pace is measured again.
    in_time |= pace_.steps() < kStepsToJudge || kDoubtful * service <= left;
  } else if (part_before < 1) {
    // The others have more than their share, so what they would lose by this job does not count.
  } else if (wait > 0 && !(in_time && HasTimeFor(work, margin, now, workers))) {
    RefreshLoad(now, workers);
    const double added = SecondsFor(added_, workers);
    wait = load_.DueBy(deadline) + added;
    in_time = kAdmitted * margin * wait + service <= left - Reserve() &&
              added + SecondsFor(work, workers) <= load_.Room(deadline) / margin;
  }
  if (!in_time) {
    return Refused(
        StrCat("model '", name, "' is busy: the deadline would pass before this request is done"),
        std::chrono::duration<double>(wait));
  }
  job.forecast = margin_.Expect(wait + service);
  return absl::OkStatus();
}

absl::Status ModelQueue::AdmitHeld(Job& job, TimePoint now) const {
  const TimePoint deadline = job.request.deadline();
  const double left = Seconds(LoadTimeLeft(now));
  // The next load may be faster than the last one, whose files had to be read from the disk.
  if (deadline == TimePoint::max() || kDoubtful * left <= Seconds(deadline - now))
    return absl::OkStatus();
  return Refused(StrCat("model '", job.model->info().name,
                        "' is being loaded, which takes longer than this request has time"),
                 std::chrono::duration<double>(left));
}

Duration ModelQueue::LoadTimeLeft(TimePoint now) const {
  if (!wanted_at_) return hold_->load_time;
  return std::max(Duration{}, hold_->load_time - (now - *wanted_at_));
}

std::function<void(Hold::Job)> ModelQueue::Want(TimePoint now) {
  if (!wanted_at_) wanted_at_ = now;
  return hold_->wanted;
}

void ModelQueue::Release(const models::BatchPolicy& policy) {
  hold_.reset();
  wanted_at_.reset();
  policy_ = policy;
}

Duration ModelQueue::OldestWait(TimePoint now) const {
  Duration longest{};
  // Each line is in the order in which its jobs came.
  for (const Line* line : {&fresh_, &quick_, &started_}) {
    if (!line->empty()) longest = std::max(longest, now - line->front()->enqueued);
  }
  return longest;
}

double ModelQueue::ExpectedWait(TimePoint now, double workers) const {
  if (held()) return wanted_at_ ? Seconds(LoadTimeLeft(now)) : 0;
  // The sums may drift below zero.
  return std::max(0.0, WaitForOthers(LeftByQuick(workers, now)));
}

bool ModelQueue::IsQuick(double work) const {
  // The mean is weighted by work: if many short requests wait together with a long one, the mean is
  // still long.
  return busy() && work * (begun_work_ + new_work_) <= kMuchShorter * squares_;
}

void ModelQueue::PushFresh(std::unique_ptr<Job> job) {
  const double work = WorkOf(*job);
  job->quick = IsQuick(work);
  added_ += work;
  Line& line = job->quick ? quick_ : fresh_;
  Push(line, std::move(job));
}

void ModelQueue::PushStarted(std::unique_ptr<Job> job) {
  StopRunning(*job);
  if (IsShort(*job)) ++short_started_;
  Push(started_, std::move(job));
}

void ModelQueue::Push(Line& line, std::unique_ptr<Job> job) {
  Count(*job, 1);
  Touch(job->enqueued);
  keys_.Add(job->share, &line == &started_, job->request.work_left());
  earliest_ = std::min(earliest_, job->request.deadline());
  line.push_back(std::move(job));
}

void ModelQueue::Count(const Job& job, double sign) {
  ++changes_;
  const double work = job.request.work_left();
  (job.service.count() == 0 ? new_work_ : begun_work_) += sign * work;
  squares_ += sign * work * work;
}

void ModelQueue::Uncount(const Line& line, const Job& job) {
  Count(job, -1);
  keys_.Remove(job.share, &line == &started_, job.request.work_left());
  if (&line == &started_ && IsShort(job)) --short_started_;
}

std::unique_ptr<Job> ModelQueue::TakeFront(Line& line) {
  std::unique_ptr<Job> job = std::move(line.front());
  line.pop_front();
  Uncount(line, *job);
  return job;
}

bool ModelQueue::MayBeginQuick() const {
  // Each request that is under way holds what it has decoded, so their number is bounded in any
  // case.
  return !policy_.continuous || running_ + started_.size() < 2 * UnderWayLimit();
}

bool ModelQueue::MayBeginFresh() const {
  return running_ + short_started_ < UnderWayLimit() && MayBeginQuick();
}

const ModelQueue::Line& ModelQueue::NextLine() const {
  const Line* next = started_.empty() ? nullptr : &started_;
  const auto consider = [&](const Line& line, bool may_begin) {
    if (line.empty() || (next != nullptr && !may_begin)) return;
    if (next == nullptr || line.front()->enqueued < next->front()->enqueued) next = &line;
  };
  consider(fresh_, MayBeginFresh());
  consider(quick_, MayBeginQuick());
  return *next;
}

bool ModelQueue::IsReady(TimePoint now, TimePoint& ready) const {
  if (size() >= policy_.max_batch) return true;
  ready = next_since() + policy_.linger;
  return ready <= now;
}

bool ModelQueue::HandOut(std::unique_ptr<Job> job, TimePoint now, Popped& popped) {
  if (job->request.cancelled() || now >= job->request.deadline()) {
    LearnFromLeaving(*job, now);
    popped.dropped.push_back(std::move(job));
    return false;
  }
  ++running_;
  const Running running = {job->request.deadline(), WorkOf(*job), job->share};
  job->charged = keys_.Start(job->share, running.work);
  begun_work_ += running.work;
  squares_ += running.work * running.work;
  if (free_places_.empty()) {
    running_work_.push_back(running);
    job->running_place = running_work_.size();
  } else {
    job->running_place = free_places_.back();
    free_places_.pop_back();
    running_work_[job->running_place - 1] = running;
  }
  job->may_be_refused = false;
  popped.batch.push_back(std::move(job));
  return true;
}

void ModelQueue::StopRunning(Job& job) {
  if (job.running_place == 0) return;
  Running& running = running_work_[job.running_place - 1];
  begun_work_ -= running.work;
  squares_ -= running.work * running.work;
  keys_.Stop(running.share, running.work);
  running.work = 0;
  running.runs = false;
  free_places_.push_back(std::exchange(job.running_place, 0));
  ++changes_;
}

void ModelQueue::TakeBatch(TimePoint now, double workers, Popped& popped) {
  const size_t most = BatchSize();
  workers = LeftByQuick(workers, now);
  if (keys_.in_use()) keys_.Advance();
  if (!IsPressed(now, workers)) {
    return keys_.in_use() ? TakeByKey(most, now, popped) : TakeInTurn(most, now, popped);
  }
  RefuseExcess(workers, popped);
  if (!keys_.in_use() && !quick_.empty() && MayBeginQuick() &&
      ++pressed_turns_ % kQuickTurns == 0) {
    while (!quick_.empty() && popped.batch.size() < most) HandOut(TakeFront(quick_), now, popped);
  }
  if (popped.batch.size() < most) TakeByDeadline(most, now, workers, popped);
}

void ModelQueue::TakeInTurn(size_t most, TimePoint now, Popped& popped) {
  while (!empty() && popped.batch.size() < most) {
    Line& line = NextLine();
    const bool alone = line.front()->alone;
    if (alone && !popped.batch.empty()) break;
    if (HandOut(TakeFront(line), now, popped) && alone) break;
  }
}

void ModelQueue::TakeByDeadline(size_t most, TimePoint now, double workers, Popped& popped) {
  struct Candidate {
    TimePoint deadline;
    double work;
    Line* line;
    size_t index;
    bool given_up = false;
    double turn = 0;
  };
  std::vector<Candidate> order;
  for (Line* line : {&started_, &quick_, &fresh_}) {
    // The jobs of a key that has few may stand far behind.
    const size_t candidates =
        keys_.in_use() ? line->size() : std::min(line->size(), kMostCandidates);
    for (size_t i = 0; i < candidates; ++i) {
      const Job& job = *(*line)[i];
      // Much shorter requests have turns of their own, unless they have waited too long for those.
      if (!keys_.in_use() && line == &quick_ && job.request.deadline() - now > now - job.enqueued)
        continue;
      order.push_back({job.request.deadline(), WorkOf(job), line, i});
    }
  }
  // Running jobs continue after their step, in the order of their deadlines.
  for (const Running& running : running_work_)
    if (running.work > 0) order.push_back({running.deadline, running.work, nullptr, 0});
  std::ranges::stable_sort(order, [](const Candidate& a, const Candidate& b) {
    return std::tie(a.deadline, a.work) < std::tie(b.deadline, b.work);
  });
  // Where not all can be in time, the longest of the earlier ones is given up for the others, so
  // that as many as possible are in time (Moore 1968). It continues when there is nothing else to
  // do.
  double before = 0;
  std::priority_queue<std::pair<double, size_t>> longest;
  for (size_t i = 0; i < order.size() && order[i].deadline != TimePoint::max(); ++i) {
    const double work = order[i].work;
    longest.emplace(work, i);
    const double begins = longest.size() <= AtOnce() ? 0 : SecondsFor(before, workers);
    const bool in_time = begins + SecondsAlone(work) <= Seconds(order[i].deadline - now);
    before += work;
    if (in_time) continue;
    before -= longest.top().first;
    order[longest.top().second].given_up = true;
    longest.pop();
  }
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

  double work = 0;  // of the batch
  for (const Candidate& next : order) {
    if (popped.batch.size() == most) break;
    if (next.line == nullptr) continue;
    std::unique_ptr<Job>& job = (*next.line)[next.index];
    // A full batch takes no further requests that have not begun, because they would slow down the
    // others.
    const bool full = policy_.full_work > 0 && work >= policy_.full_work;
    if (next.line != &started_ && (full || !MayBeginQuick())) continue;
    const bool alone = job->alone;
    if (alone && !popped.batch.empty()) continue;
    work += WorkOf(*job);
    Uncount(*next.line, *job);
    if (HandOut(std::move(job), now, popped) && alone) break;
  }
  for (Line* line : {&started_, &quick_, &fresh_}) std::erase(*line, nullptr);
  // Only much shorter requests wait here, or none of the others may begin.
  if (popped.batch.empty() && popped.dropped.empty()) TakeInTurn(most, now, popped);
}

bool ModelQueue::IsPressed(TimePoint now, double workers) {
  const double stretch = kPressed * margin_.factor();
  if (!pace_.known() || HasTimeFor(0, stretch, now, workers)) return false;
  RefreshLoad(now, workers);
  return load_.Excess(stretch) > 0;
}

void ModelQueue::RefuseExcess(double workers, Popped& popped) {
  if (pace_.steps() < kStepsToJudge) return;
  TimePoint deadline;
  double excess = load_.Excess(1, &deadline);
  if (excess <= 0) return;
  for (size_t i = fresh_.size(); i > 0 && excess > 0; --i) {
    std::unique_ptr<Job>& job = fresh_[i - 1];
    if (!job->may_be_refused || job->request.deadline() > deadline) continue;
    if (keys_.PartBefore(job->share) < 1) continue;  // another key has more than its share
    excess -= SecondsFor(WorkOf(*job), workers);
    Uncount(fresh_, *job);
    job->request.Finish(
        Refused(StrCat("model '", job->model->info().name,
                       "' is slower than expected: the deadline would pass before this request is "
                       "done"),
                std::chrono::duration<double>(load_.DueBy(deadline))));
    popped.dropped.push_back(std::move(job));
  }
  std::erase(fresh_, nullptr);
}

void ModelQueue::EndStep(const std::vector<std::unique_ptr<Job>>& batch, Duration took,
                         TimePoint now) {
  Touch(now);
  ChargeKeys(batch, took);
  for (const auto& job : batch) {
    StopRunning(*job);
    const auto& outcome = job->request.outcome();
    if (job->service.count() == 0 && (!outcome || outcome->ok()))
      correction_.Report(job->estimate, job->request.work_left() + job->request.work_done());
    job->service += took;
    if (!outcome && job->request.ShouldStop()) {
      LearnFromLeaving(*job, now);
    } else if (outcome && outcome->ok()) {
      margin_.Record(job->forecast.seconds, job->forecast);
    }
  }
}

void ModelQueue::ReportStep(const StepReport& step, TimePoint now) {
  Touch(now);
  served += step.took;
  use_.Add(now, step.took);
  if (step.quick != 0) {
    quick_use_.Add(now, step.took * static_cast<Duration::rep>(step.quick) /
                            static_cast<Duration::rep>(step.jobs));
  }
  if (step.tells_pace) pace_.Report(step.took, step.jobs, step.work);
  running_ -= std::min(running_, step.jobs);
  if (running_ != 0) return;
  for (const Running& gone : running_work_) {
    if (gone.runs) keys_.Stop(gone.share, gone.work);
    begun_work_ -= gone.work;
    squares_ -= gone.work * gone.work;
  }
  running_work_.clear();
  free_places_.clear();
  if (empty()) new_work_ = begun_work_ = squares_ = 0;  // sums of many numbers drift
}

void ModelQueue::LearnFromLeaving(const Job& job, TimePoint now) {
  margin_.RecordGivenUp(Seconds(now - job.admitted), job.forecast);
}

std::unique_ptr<Job> ModelQueue::Remove(const Reply& reply, TimePoint now) {
  for (Line* line : {&fresh_, &quick_, &started_}) {
    const auto found =
        std::ranges::find_if(*line, [&reply](const auto& job) { return &job->reply == &reply; });
    if (found == line->end()) continue;
    std::unique_ptr<Job> job = std::move(*found);
    line->erase(found);
    Uncount(*line, *job);
    LearnFromLeaving(*job, now);
    return job;
  }
  return nullptr;
}

void ModelQueue::TakeExpired(TimePoint now, std::vector<std::unique_ptr<Job>>& expired) {
  for (Line* line : {&fresh_, &quick_, &started_}) {
    for (std::unique_ptr<Job>& job : *line) {
      if (now < job->request.deadline()) continue;
      Uncount(*line, *job);
      LearnFromLeaving(*job, now);
      expired.push_back(std::move(job));
    }
    std::erase(*line, nullptr);
  }
}

void ModelQueue::TakeAll(std::vector<std::unique_ptr<Job>>& all) {
  for (Line* line : {&fresh_, &quick_, &started_}) {
    for (auto& job : *line) {
      Uncount(*line, *job);
      all.push_back(std::move(job));
    }
    line->clear();
  }
}

}  // namespace millrace::server
