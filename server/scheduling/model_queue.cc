#include "server/scheduling/model_queue.h"

#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/metrics/model_metrics.h"
#include "server/scheduling/refusal.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

// While requests go by deadline, one batch in kQuickTurns is of much shorter requests, no more than
// what the admission of newcomers leaves over.
constexpr size_t kQuickTurns = 4;

}  // namespace

ModelQueue::ModelQueue(const models::BatchPolicy& policy, size_t capacity, size_t all_workers)
    : policy_(policy),
      capacity_(capacity),
      all_workers_(all_workers),
      forecast_(policy, all_workers) {}

size_t ModelQueue::UnderWayLimit() const {
  return policy_.continuous ? forecast_.AtOnce() : kUnderWayPerPlace * forecast_.AtOnce();
}

size_t ModelQueue::BatchSize() const {
  if (!policy_.divided) return policy_.max_batch;
  const size_t share = (forecast_.requests() + all_workers_ - 1) / all_workers_;
  return std::min(share, policy_.max_batch);
}

void ModelQueue::Release(const models::BatchPolicy& policy) {
  hold_.Release();
  policy_ = policy;
  forecast_.SetPolicy(policy);
}

double ModelQueue::ExpectedWait(TimePoint now, double workers) const {
  return held() ? hold_.ExpectedWait(now) : forecast_.ExpectedWait(now, workers);
}

absl::Status ModelQueue::Admit(Job& job, TimePoint now, double workers) {
  if (!held()) {
    MILLRACE_RETURN_IF_ERROR(forecast_.CheckLength(job, now));
  }
  if (size() >= capacity_ && !FindToDisplace(job)) {
    return Refused(Refusal::kQueueFull,
                   StrCat("the queue of model '", job.model->info().name, "' is full (", capacity_,
                          " requests)"),
                   std::chrono::duration<double>(forecast_.SecondsForAll(workers)));
  }
  job.may_be_refused = true;
  return held() ? hold_.Admit(job, now)
                : forecast_.Admit(job, lines_, keys_.PartBefore(job.share), now, workers);
}

void ModelQueue::PushFresh(std::unique_ptr<Job> job) {
  job->quick = forecast_.IsQuick(forecast_.WorkOf(*job));
  Line& line = job->quick ? lines_.quick : lines_.fresh;
  Push(line, std::move(job), /*newcomer=*/true);
}

void ModelQueue::PushStarted(std::unique_ptr<Job> job) {
  StopRunning(*job);
  // It has had a step, or its client has caught up.
  job->request.MakeProgress(job->enqueued);
  if (!forecast_.HasTimeAlone(*job, job->enqueued)) job->request.PostponeDeadline();
  has_places_ |= job->request.place().where != nullptr;
  Push(lines_.started, std::move(job), /*newcomer=*/false);
}

void ModelQueue::Push(Line& line, std::unique_ptr<Job> job, bool newcomer) {
  forecast_.Enter(*job, newcomer);
  Touch(job->enqueued);
  keys_.Add(job->share, lines_.HasBegun(line), job->request.work_left());
  lines_.Push(line, std::move(job));
}

void ModelQueue::OnLeave(const Line& line, const Job& job) {
  forecast_.Leave(job);
  keys_.Remove(job.share, lines_.HasBegun(line), job.request.work_left());
}

std::unique_ptr<Job> ModelQueue::Take(const JobLines::Place& place) {
  std::unique_ptr<Job> job = lines_.Take(place);
  OnLeave(*place.line, *job);
  return job;
}

std::unique_ptr<Job> ModelQueue::TakeOut(const JobLines::Place& place) {
  std::unique_ptr<Job> job = lines_.TakeOut(place);
  OnLeave(*place.line, *job);
  return job;
}

bool ModelQueue::MayBeginQuick() const {
  // Each request that is under way holds what it has decoded, so their number is bounded in any
  // case.
  return !policy_.continuous || forecast_.running() + lines_.started.size() < 2 * UnderWayLimit();
}

bool ModelQueue::MayBeginFresh() const {
  return forecast_.running() + lines_.short_started() < UnderWayLimit() && MayBeginQuick();
}

const ModelQueue::Line* ModelQueue::NextLine(size_t started) const {
  const Line* next = nullptr;
  TimePoint since = TimePoint::max();
  const auto consider = [&](const Line& line, size_t index) {
    if (index == line.size() || (next != nullptr && line[index]->enqueued >= since)) return;
    next = &line;
    since = line[index]->enqueued;
  };
  consider(lines_.started, started);
  const bool must_begin = lines_.started.empty();
  if (must_begin || MayBeginFresh()) consider(lines_.fresh, 0);
  if ((must_begin && next == nullptr) || MayBeginQuick()) consider(lines_.quick, 0);
  return next;
}

const void* ModelQueue::NextPlace() const {
  models::RequestState::Place next;
  if (!has_places_) return nullptr;
  for (const auto& job : lines_.started) {
    const models::RequestState::Place place = job->request.place();
    if (place.where == nullptr) continue;
    if (next.where == nullptr || place.steps < next.steps) next = place;
  }
  return next.where;
}

bool ModelQueue::Fits(const Job& job, const void* where) {
  if (where == nullptr) return true;
  const void* const place = job.request.place().where;
  return place == nullptr || place == where;
}

bool ModelQueue::IsReady(TimePoint now, TimePoint& ready) const {
  if (size() >= policy_.max_batch) return true;
  ready = next_since() + policy_.linger;
  return ready <= now;
}

bool ModelQueue::HandOut(std::unique_ptr<Job> job, TimePoint now, Popped& popped) {
  if (job->request.cancelled() || now >= job->request.expires()) {
    forecast_.LearnFromLeaving(*job, now);
    popped.dropped.push_back(std::move(job));
    return false;
  }
  job->charged = keys_.Start(job->share, forecast_.Start(*job, now));
  job->may_be_refused = false;
  popped.batch.push_back(std::move(job));
  return true;
}

void ModelQueue::StopRunning(Job& job) {
  if (const auto stopped = forecast_.Stop(job)) keys_.Stop(stopped->share, stopped->work);
}

void ModelQueue::TakeBatch(TimePoint now, double workers, Popped& popped) {
  const size_t most = BatchSize();
  const void* const where = NextPlace();
  workers = forecast_.LeftByQuick(workers, now);
  if (keys_.in_use()) keys_.Advance();
  if (!forecast_.IsPressed(lines_, now, workers)) {
    return keys_.in_use() ? TakeByKey(most, now, where, popped)
                          : TakeInTurn(most, now, where, popped);
  }
  RefuseExcess(now, workers, popped);
  if (!keys_.in_use() && !lines_.quick.empty() && MayBeginQuick() &&
      ++pressed_turns_ % kQuickTurns == 0) {
    while (!lines_.quick.empty() && popped.batch.size() < most)
      HandOut(Take({&lines_.quick, 0}), now, popped);
  }
  if (popped.batch.size() < most) TakeByDeadline(most, now, workers, where, popped);
}

void ModelQueue::TakeInTurn(size_t most, TimePoint now, const void* where, Popped& popped) {
  size_t started = 0;
  while (popped.batch.size() < most) {
    while (started < lines_.started.size() && !Fits(*lines_.started[started], where)) ++started;
    Line* const line = const_cast<Line*>(NextLine(started));
    if (line == nullptr) break;
    const JobLines::Place place{line, lines_.HasBegun(*line) ? started : 0};
    const bool alone = (*line)[place.index]->alone;
    if (alone && !popped.batch.empty()) break;
    if (HandOut(Take(place), now, popped) && alone) break;
  }
}

void ModelQueue::EndStep(const std::vector<std::unique_ptr<Job>>& batch, Duration took,
                         TimePoint now) {
  Touch(now);
  ChargeKeys(batch, took);
  for (const auto& job : batch) {
    StopRunning(*job);
    forecast_.LearnFromStep(*job, now);
    job->service += took;
  }
}

void ModelQueue::ReportStep(const StepReport& step, TimePoint now) {
  Touch(now);
  served += step.took;
  forecast_.ReportStep(step, now, [this](const AdmissionForecast::Running& gone) {
    keys_.Stop(gone.share, gone.work);
  });
}

std::unique_ptr<Job> ModelQueue::Remove(const Reply& reply, TimePoint now) {
  const std::optional<JobLines::Place> place = lines_.Find(reply);
  if (!place) return nullptr;
  std::unique_ptr<Job> job = lines_.Take(*place);
  OnLeave(*place->line, *job);
  forecast_.LearnFromLeaving(*job, now);
  return job;
}

void ModelQueue::TakeExpired(TimePoint now, std::vector<std::unique_ptr<Job>>& expired) {
  for (Line* line : lines_.all()) {
    for (size_t i = 0; i < line->size(); ++i) {
      if (now < (*line)[i]->request.expires()) continue;
      std::unique_ptr<Job> job = TakeOut({line, i});
      forecast_.LearnFromLeaving(*job, now);
      expired.push_back(std::move(job));
    }
  }
  lines_.CloseGaps();
}

void ModelQueue::TakeAll(std::vector<std::unique_ptr<Job>>& all) {
  for (Line* line : lines_.all()) {
    while (!line->empty()) all.push_back(Take({line, 0}));
  }
}

}  // namespace millrace::server
