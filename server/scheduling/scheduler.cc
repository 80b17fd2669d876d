#include "server/scheduling/scheduler.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "models/core/strings.h"
#include "server/scheduling/refusal.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

// Weight of the newest step in the moving averages: follows a change of load within some ten steps.
constexpr double kStepWeight = 0.2;
// Requests differ more, and whoever asks often enough is let in by the lowest of the estimates.
constexpr double kRequestWeight = 0.05;

bool IsShort(const Job& job) { return job.service < Scheduler::kLong; }

}  // namespace

QueueId Scheduler::AddQueue(const models::BatchPolicy& policy) {
  MutexLock lock(mu_);
  const auto slot = std::find_if(queues_.begin(), queues_.end(),
                                 [](const Queue& queue) { return !queue.in_use; });
  Queue& queue = slot != queues_.end() ? *slot : queues_.emplace_back();
  queue = Queue{};
  queue.policy = policy;
  queue.capacity = policy.queue_size != 0 ? policy.queue_size : options_.default_queue_size;
  queue.in_use = true;
  for (QueueId id = 0; id < queues_.size(); ++id) {
    if (&queues_[id] == &queue) return id;
  }
  return 0;
}

void Scheduler::RemoveQueue(QueueId queue) {
  MutexLock lock(mu_);
  queues_[queue] = Queue{};
}

absl::Status Scheduler::Submit(std::unique_ptr<Job>& job) {
  const TimePoint now = clock_.Now();
  bool wake = false;
  {
    MutexLock lock(mu_);
    if (closed_) return absl::UnavailableError("the server is shutting down; try another one");
    Queue& queue = queues_[job->model->queue()];
    const auto [wait, service, behind] = Predict(queue);
    if (queue.size() >= queue.capacity) {
      return Refused(StrCat("the queue of model '", job->model->info().name, "' is full (",
                            queue.capacity, " requests)"),
                     std::chrono::duration<double>(wait));
    }
    // A job that would end too late only takes the place of one that could still make it.
    if (!queue.empty() && job->request.deadline() != TimePoint::max()) {
      const double left = Seconds(job->request.deadline() - now);
      const double factor = behind ? queue.margin.factor() : 1;
      if (factor * (wait + service) > left) {
        return Refused(StrCat("model '", job->model->info().name,
                              "' is busy: the deadline would pass before this request's turn"),
                       std::chrono::duration<double>(wait));
      }
    }
    job->enqueued = now;
    if (behind) job->forecast = queue.margin.Expect(wait + service);
    Push(queue, queue.fresh, std::move(job));
    wake = ShouldWake();
  }
  if (wake) work_.NotifyOne();
  return absl::OkStatus();
}

void Scheduler::Requeue(std::unique_ptr<Job> job, Wake whom) {
  PutBack(std::move(job), &Queue::started, whom);
}

void Scheduler::Enter(std::unique_ptr<Job> job) {
  PutBack(std::move(job), &Queue::fresh, Wake::kWorker);
}

void Scheduler::PutBack(std::unique_ptr<Job> job, Line Queue::*line, Wake whom) {
  bool wake = false;
  {
    MutexLock lock(mu_);
    if (!closed_) {
      job->enqueued = clock_.Now();
      Queue& queue = queues_[job->model->queue()];
      Push(queue, queue.*line, std::move(job));
      wake = whom == Wake::kWorker && ShouldWake();
    }
  }
  if (job != nullptr)
    FinishJob(std::move(job), absl::UnavailableError("the server is shutting down"));
  if (wake) work_.NotifyOne();
}

size_t Scheduler::UnderWayLimit(const Queue& queue) const {
  const size_t places = static_cast<size_t>(options_.workers) * queue.policy.max_batch;
  return queue.policy.continuous ? places : kUnderWayPerPlace * places;
}

size_t Scheduler::BatchSize(const Queue& queue) const {
  if (!queue.policy.divided) return queue.policy.max_batch;
  const auto workers = static_cast<size_t>(options_.workers);
  const size_t share = (queue.size() + queue.running + workers - 1) / workers;
  return std::min(share, queue.policy.max_batch);
}

Scheduler::Forecast Scheduler::Predict(const Queue& queue) const {
  const size_t limit = UnderWayLimit(queue);
  const size_t under_way = queue.fresh.size() + queue.short_started + queue.running;
  // So many must end before a newcomer begins, and the others have a step before it.
  const size_t ends = std::min(queue.fresh.size(), under_way - std::min(under_way, limit));
  const size_t steps = queue.size() - ends;
  const double per_request = std::max(queue.seconds_per_request, queue.seconds_per_job);
  Forecast forecast{
      .wait = (static_cast<double>(ends) * per_request +
               static_cast<double>(steps) * queue.seconds_per_job) /
              options_.workers,
      .service = queue.seconds_per_step,
      .behind = ends != 0,
  };
  if (forecast.behind) {
    // After its first step it shares the workers with as many as may be under way.
    forecast.service +=
        (per_request - queue.seconds_per_job) * static_cast<double>(limit) / options_.workers;
  }
  return forecast;
}

Scheduler::Line& Scheduler::NextLine(Queue& queue) const {
  if (queue.fresh.empty()) return queue.started;
  if (queue.started.empty()) return queue.fresh;
  // There is one to take from: `running` alone never reaches the limit.
  const size_t limit = UnderWayLimit(queue);
  if (queue.running + queue.short_started >= limit) return queue.started;
  // Each that is under way holds what it has decoded: long ones are bounded, too.
  if (queue.policy.continuous && queue.running + queue.started.size() >= 2 * limit)
    return queue.started;
  return queue.fresh.front()->enqueued < queue.started.front()->enqueued ? queue.fresh
                                                                         : queue.started;
}

void Scheduler::Push(Queue& queue, Line& line, std::unique_ptr<Job> job) {
  // An idle queue has no claim to what it did not use.
  if (queue.empty()) queue.served = std::max(queue.served, served_);
  if (&line == &queue.started && IsShort(*job)) ++queue.short_started;
  line.push_back(std::move(job));
  ++total_;
}

std::unique_ptr<Job> Scheduler::Take(Queue& queue, Line& line, Line::iterator at) {
  std::unique_ptr<Job> job = std::move(*at);
  line.erase(at);
  if (&line == &queue.started && IsShort(*job)) --queue.short_started;
  --total_;
  return job;
}

std::unique_ptr<Job> Scheduler::Remove(QueueId queue_id, const Reply& reply) {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  Queue& queue = queues_[queue_id];
  for (Line* line : {&queue.fresh, &queue.started}) {
    const auto found = std::find_if(line->begin(), line->end(),
                                    [&reply](const auto& job) { return &job->reply == &reply; });
    if (found == line->end()) continue;
    LearnFromLeaving(queue, **found, now);
    return Take(queue, *line, found);
  }
  return nullptr;
}

std::vector<std::unique_ptr<Job>> Scheduler::TakeExpired() {
  const TimePoint now = clock_.Now();
  std::vector<std::unique_ptr<Job>> expired;
  MutexLock lock(mu_);
  for (Queue& queue : queues_) {
    for (Line* line : {&queue.fresh, &queue.started}) {
      for (std::unique_ptr<Job>& job : *line) {
        if (now < job->request.deadline()) continue;
        if (line == &queue.started && IsShort(*job)) --queue.short_started;
        LearnFromLeaving(queue, *job, now);
        expired.push_back(std::move(job));
      }
      std::erase(*line, nullptr);
    }
  }
  total_ -= expired.size();
  return expired;
}

bool Scheduler::ShouldWake() {
  // One notification at a time: the woken worker passes it on when it leaves work behind. Saves a
  // futex call for most submissions.
  if (idle_ == 0 || wake_pending_) return false;
  wake_pending_ = true;
  return true;
}

Scheduler::Queue* Scheduler::PickReady(TimePoint now, TimePoint& next_ready) {
  Queue* best = nullptr;
  TimePoint best_oldest;
  next_ready = TimePoint::max();
  for (Queue& queue : queues_) {
    if (queue.empty()) continue;
    const TimePoint oldest = NextLine(queue).front()->enqueued;
    if (queue.size() < queue.policy.max_batch && oldest + queue.policy.linger > now) {
      next_ready = std::min(next_ready, oldest + queue.policy.linger);
      continue;
    }
    if (best == nullptr || std::tie(queue.served, oldest) < std::tie(best->served, best_oldest)) {
      best = &queue;
      best_oldest = oldest;
    }
  }
  return best;
}

bool Scheduler::PopBatch(Popped& popped) {
  popped.batch.clear();
  popped.dropped.clear();
  bool wake = false;
  {
    MutexLock lock(mu_);
    for (;;) {
      if (closed_) return false;
      TimePoint next_ready = TimePoint::max();
      if (total_ != 0) {
        const TimePoint now = clock_.Now();
        if (Queue* queue = PickReady(now, next_ready)) {
          served_ = queue->served;
          const size_t most = BatchSize(*queue);
          while (!queue->empty() && popped.batch.size() < most) {
            Line& line = NextLine(*queue);
            if (line.front()->alone && !popped.batch.empty()) break;
            std::unique_ptr<Job> job = Take(*queue, line, line.begin());
            const bool alone = job->alone;
            const bool late = job->request.cancelled() || now >= job->request.deadline();
            if (late) {
              LearnFromLeaving(*queue, *job, now);
            } else {
              ++queue->running;
            }
            (late ? popped.dropped : popped.batch).push_back(std::move(job));
            if (alone && !late) break;
          }
          wake = total_ != 0 && ShouldWake();
          break;
        }
      }
      ++idle_;
      if (next_ready == TimePoint::max()) {
        work_.Wait(mu_);
      } else {
        clock_.WaitUntil(work_, mu_, next_ready);
      }
      --idle_;
      wake_pending_ = false;
    }
  }
  if (wake) work_.NotifyOne();
  return true;
}

void Scheduler::ReportStep(QueueId queue_id, const StepReport& step) {
  const auto average = [](double& old, double weight, Duration sum, size_t count) {
    const double value = Seconds(sum) / static_cast<double>(count);
    old = old == 0 ? value : old + weight * (value - old);
  };
  MutexLock lock(mu_);
  Queue& queue = queues_[queue_id];
  queue.served += step.took;
  queue.running -= std::min(queue.running, step.jobs);
  average(queue.seconds_per_step, kStepWeight, step.took, 1);
  average(queue.seconds_per_job, kStepWeight, step.took, step.jobs);
  if (step.finished != 0)
    average(queue.seconds_per_request, kRequestWeight, step.finished_work, step.finished);
}

void Scheduler::LearnFromLeaving(Queue& queue, const Job& job, TimePoint now) {
  queue.margin.TookMoreThan(Seconds(now - job.admitted), job.forecast);
}

void Scheduler::ReportEnd(const Job& job) {
  if (job.forecast.seconds == 0) return;
  const TimePoint now = clock_.Now();
  const auto& outcome = job.request.outcome();
  const bool left = !outcome && job.request.ShouldStop();
  if (!left && !(outcome && outcome->ok())) return;
  MutexLock lock(mu_);
  Queue& queue = queues_[job.model->queue()];
  if (left) {
    LearnFromLeaving(queue, job, now);
  } else {
    queue.margin.Took(Seconds(now - job.admitted), job.forecast);
  }
}

std::vector<std::unique_ptr<Job>> Scheduler::Close() {
  std::vector<std::unique_ptr<Job>> waiting;
  {
    MutexLock lock(mu_);
    closed_ = true;
    for (Queue& queue : queues_) {
      for (Line* line : {&queue.fresh, &queue.started}) {
        for (auto& job : *line) waiting.push_back(std::move(job));
        line->clear();
      }
      queue.short_started = 0;
    }
    total_ = 0;
  }
  work_.NotifyAll();
  return waiting;
}

size_t Scheduler::depth(QueueId queue) const {
  MutexLock lock(mu_);
  return queues_[queue].size();
}

size_t Scheduler::capacity(QueueId queue) const {
  MutexLock lock(mu_);
  return queues_[queue].capacity;
}

}  // namespace millrace::server
