#include "server/scheduling/model_queue.h"

#include <algorithm>
#include <utility>

#include "server/metrics/model_metrics.h"

namespace millrace::server {
namespace {

// While requests go by deadline, one batch in kQuickTurns is of much shorter requests, no more than
// what the admission of newcomers leaves over. At most the part kMostQuick of the workers is
// counted as theirs.
constexpr size_t kQuickTurns = 4;
constexpr double kMostQuick = 0.9;

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
  // It has had a step, or its client has caught up.
  job->request.MakeProgress(job->enqueued);
  if (!HasTimeAlone(*job, job->enqueued)) job->request.PostponeDeadline();
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
  if (job->request.cancelled() || now >= job->request.expires()) {
    LearnFromLeaving(*job, now);
    popped.dropped.push_back(std::move(job));
    return false;
  }
  ++running_;
  const Running running = {.deadline = job->request.deadline(),
                           .work = WorkOf(*job),
                           .due_work = DueWorkOf(*job, now),
                           .share = job->share};
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
  RefuseExcess(now, workers, popped);
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
      if (now < job->request.expires()) continue;
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
