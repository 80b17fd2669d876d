#include "server/scheduling/scheduler.h"

#include <algorithm>
#include <thread>
#include <tuple>
#include <utility>

#include "models/core/strings.h"
#include "server/scheduling/refusal.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

// How often a helper yields to other threads until it sleeps: for about a millisecond. A forward
// opens its next loop soon, and waking a thread takes longer than most of the loops.
constexpr int kYields = 3000;

}  // namespace

Scheduler::Scheduler(Options options, Clock& clock)
    : options_(options),
      clock_(clock),
      loops_(std::min(options.workers, SharedLoops::kMostWorkers), clock,
             [this] { WakeHelper(); }) {}

QueueId Scheduler::AddQueue(const models::BatchPolicy& policy) {
  MutexLock lock(mu_);
  const size_t capacity = policy.queue_size != 0 ? policy.queue_size : options_.default_queue_size;
  const auto slot = std::find_if(queues_.begin(), queues_.end(),
                                 [](const ModelQueue& queue) { return !queue.in_use(); });
  const auto id = static_cast<QueueId>(slot - queues_.begin());
  if (slot == queues_.end()) queues_.emplace_back();
  queues_[id] = ModelQueue(policy, capacity, static_cast<size_t>(options_.workers));
  queues_[id].Touch(clock_.Now());
  return id;
}

void Scheduler::RemoveQueue(QueueId queue) {
  MutexLock lock(mu_);
  queues_[queue] = ModelQueue();
}

void Scheduler::HoldQueue(QueueId queue, Hold hold) {
  MutexLock lock(mu_);
  queues_[queue].SetHold(std::move(hold));
}

void Scheduler::Release(QueueId queue, const models::BatchPolicy& policy) {
  bool wake = false;
  {
    MutexLock lock(mu_);
    ModelQueue& released = queues_[queue];
    if (!released.held()) return;
    released.Release(policy);
    released.Touch(clock_.Now());
    // It has no claim to the time in which it was held.
    released.served = std::max(released.served, served_);
    wake = !released.empty() && CallWorker();
  }
  if (wake) work_.NotifyOne();
}

void Scheduler::Want(QueueId queue) {
  std::function<void(Hold::Job)> wanted;
  {
    MutexLock lock(mu_);
    if (queues_[queue].held()) wanted = queues_[queue].Want(clock_.Now());
  }
  if (wanted != nullptr) wanted(Hold::Job::kWaits);
}

std::vector<std::unique_ptr<Job>> Scheduler::TakeHeld(QueueId queue) {
  std::vector<std::unique_ptr<Job>> jobs;
  MutexLock lock(mu_);
  ModelQueue& held = queues_[queue];
  if (!held.held()) return jobs;
  held.GiveUp();
  held.TakeAll(jobs);
  total_ -= jobs.size();
  return jobs;
}

absl::Status Scheduler::Submit(std::unique_ptr<Job>& job) {
  const TimePoint now = clock_.Now();
  bool wake = false;
  absl::Status status;
  std::unique_ptr<Job> displaced;
  std::function<void(Hold::Job)> wanted;
  {
    MutexLock lock(mu_);
    if (closed_) return Draining();
    ModelQueue& queue = queues_[job->model->queue()];
    status = queue.Admit(*job, now, WorkersFor(queue, now));
    if (queue.held()) wanted = queue.Want(now);
    if (status.ok()) {
      displaced = queue.MakeRoomFor(*job);
      if (displaced != nullptr) --total_;
      job->enqueued = now;
      Push(queue, &ModelQueue::PushFresh, std::move(job));
      wake = wanted == nullptr && CallWorker();
    }
  }
  if (wake) work_.NotifyOne();
  if (displaced != nullptr) Displace(std::move(displaced));
  if (wanted != nullptr) wanted(status.ok() ? Hold::Job::kWaits : Hold::Job::kWasRefused);
  return status;
}

void Scheduler::Displace(std::unique_ptr<Job> job) {
  const absl::Status status =
      Refused(Refusal::kQueueFull,
              StrCat("the queue of model '", job->model->info().name,
                     "' is full, and this key has the most requests in it for its weight"),
              std::chrono::seconds(1));
  FinishJob(std::move(job), status);
}

void Scheduler::Requeue(std::unique_ptr<Job> job, Wake whom) {
  PutBack(std::move(job), &ModelQueue::PushStarted, whom);
}

void Scheduler::Enter(std::unique_ptr<Job> job) {
  PutBack(std::move(job), &ModelQueue::PushFresh, Wake::kWorker);
}

void Scheduler::PutBack(std::unique_ptr<Job> job, void (ModelQueue::*push)(std::unique_ptr<Job>),
                        Wake whom) {
  bool wake = false;
  std::function<void(Hold::Job)> wanted;
  {
    MutexLock lock(mu_);
    if (!closed_) {
      job->enqueued = clock_.Now();
      job->in_queue = true;
      ModelQueue& queue = queues_[job->model->queue()];
      if (queue.held()) wanted = queue.Want(job->enqueued);
      Push(queue, push, std::move(job));
      wake = wanted == nullptr && whom == Wake::kWorker && CallWorker();
    }
  }
  if (job != nullptr) {
    const absl::Status status = ShutdownStatus(*job);
    FinishJob(std::move(job), status);
  }
  if (wake) work_.NotifyOne();
  if (wanted != nullptr) wanted(Hold::Job::kWaits);
}

double Scheduler::WorkersFor(const ModelQueue& queue, TimePoint now) const {
  const auto all = static_cast<double>(options_.workers);
  double used = 0;  // by other models
  double sharing = 1;
  for (const ModelQueue& other : queues_) {
    if (&other == &queue) continue;
    used += other.recent_use(now);
    if (other.busy() && !other.held()) ++sharing;
  }
  // Others get no more than an equal share, even if they want it.
  return std::max(all / sharing, all - used);
}

void Scheduler::Push(ModelQueue& queue, void (ModelQueue::*push)(std::unique_ptr<Job>),
                     std::unique_ptr<Job> job) {
  // An idle queue does not keep a claim to time that it did not use.
  if (queue.empty()) queue.served = std::max(queue.served, served_);
  (queue.*push)(std::move(job));
  ++total_;
}

std::unique_ptr<Job> Scheduler::Remove(QueueId queue, const Reply& reply) {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  std::unique_ptr<Job> job = queues_[queue].Remove(reply, now);
  if (job != nullptr) --total_;
  return job;
}

std::vector<std::unique_ptr<Job>> Scheduler::TakeExpired() {
  const TimePoint now = clock_.Now();
  std::vector<std::unique_ptr<Job>> expired;
  MutexLock lock(mu_);
  for (ModelQueue& queue : queues_) queue.TakeExpired(now, expired);
  total_ -= expired.size();
  return expired;
}

int Scheduler::MostHelpers() const {
  const int waiting = idle_ + helping_;
  const int busy = options_.workers - waiting;
  return busy <= 0 ? 0 : std::clamp(options_.cores - busy, 0, waiting);
}

void Scheduler::CountHelpers() {
  const int helpers = MostHelpers();
  loops_.SetHelpers(helpers, std::max(helpers - helping_, 0));
  if (helping_ > helpers) Recall();
}

void Scheduler::Recall() {
  if (helping_ != 0) recalls_.fetch_add(1, std::memory_order_relaxed);
}

void Scheduler::WakeHelper() {
  bool wake = false;
  {
    MutexLock lock(mu_);
    wake = helping_ < MostHelpers() && ShouldWake();
    help_wanted_ |= wake;
  }
  if (wake) work_.NotifyOne();
}

void Scheduler::HelpUntil(uint32_t recalls, TimePoint end) {
  int yields = 0;
  while (yields < kYields && recalls_.load(std::memory_order_relaxed) == recalls) {
    if (end != TimePoint::max() && clock_.Now() >= end) return;
    if (loops_.HelpOnce()) {
      yields = 0;
    } else {
      std::this_thread::yield();
      ++yields;
    }
  }
}

bool Scheduler::CallWorker() {
  Recall();
  return ShouldWake();
}

bool Scheduler::ShouldWake() {
  // At most one notification is under way: the woken worker passes it on when it leaves work
  // behind. This saves a futex call for most submissions.
  if (idle_ == 0 || wake_pending_) return false;
  wake_pending_ = true;
  return true;
}

ModelQueue* Scheduler::PickReady(TimePoint now, TimePoint& next_ready) {
  ModelQueue* best = nullptr;
  TimePoint best_since;
  next_ready = TimePoint::max();
  for (ModelQueue& queue : queues_) {
    if (queue.empty() || queue.held()) continue;
    TimePoint ready;
    if (!queue.IsReady(now, ready)) {
      next_ready = std::min(next_ready, ready);
      continue;
    }
    const TimePoint since = queue.next_since();
    if (best == nullptr || std::tie(queue.served, since) < std::tie(best->served, best_since)) {
      best = &queue;
      best_since = since;
    }
  }
  return best;
}

bool Scheduler::PopBatch(Popped& popped) {
  popped.batch.clear();
  popped.dropped.clear();
  bool wake = false;
  bool called_to_help = false;
  {
    MutexLock lock(mu_);
    for (;;) {
      if (closed_) return false;
      TimePoint next_ready = TimePoint::max();
      if (total_ != 0) {
        const TimePoint now = clock_.Now();
        if (ModelQueue* queue = PickReady(now, next_ready)) {
          served_ = queue->served;
          queue->TakeBatch(now, WorkersFor(*queue, now), popped);
          total_ -= popped.batch.size() + popped.dropped.size();
          wake = total_ != 0 && CallWorker();
          break;
        }
      }
      ++idle_;
      CountHelpers();
      if (helping_ < MostHelpers() && (called_to_help || loops_.HasOpen())) {
        called_to_help = false;
        --idle_;
        ++helping_;
        CountHelpers();
        const bool more = helping_ < MostHelpers() && ShouldWake();
        const uint32_t recalls = recalls_.load(std::memory_order_relaxed);
        lock.Unlock();
        if (more) work_.NotifyOne();
        HelpUntil(recalls, next_ready);
        lock.Lock();
        --helping_;
        CountHelpers();
        continue;
      }
      if (next_ready == TimePoint::max()) {
        work_.Wait(mu_);
      } else {
        clock_.WaitUntil(work_, mu_, next_ready);
      }
      --idle_;
      wake_pending_ = false;
      called_to_help = std::exchange(help_wanted_, false);
      CountHelpers();
    }
  }
  if (wake) work_.NotifyOne();
  return true;
}

void Scheduler::EndStep(const std::vector<std::unique_ptr<Job>>& batch, Duration took) {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  queues_[batch.front()->model->queue()].EndStep(batch, took, now);
  if (batch.front()->share.key == 0) return;
  for (const auto& job : batch) {
    if (job->share.key >= key_seconds_.size()) key_seconds_.resize(job->share.key + 1);
    key_seconds_[job->share.key] += Seconds(job->step_share);
  }
}

void Scheduler::ReportStep(QueueId queue, const StepReport& step) {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  queues_[queue].ReportStep(step, now);
}

std::vector<std::unique_ptr<Job>> Scheduler::Close() {
  std::vector<std::unique_ptr<Job>> waiting;
  {
    MutexLock lock(mu_);
    closed_ = true;
    Recall();
    for (ModelQueue& queue : queues_) queue.TakeAll(waiting);
    total_ = 0;
  }
  work_.NotifyAll();
  return waiting;
}

std::vector<double> Scheduler::key_seconds() const {
  MutexLock lock(mu_);
  return key_seconds_;
}

size_t Scheduler::depth(QueueId queue) const {
  MutexLock lock(mu_);
  return queues_[queue].size();
}

Scheduler::QueueLoad Scheduler::load(QueueId queue) const {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  const ModelQueue& jobs = queues_[queue];
  return {.depth = jobs.size(),
          .oldest = jobs.OldestWait(now),
          .expected_wait = jobs.ExpectedWait(now, WorkersFor(jobs, now))};
}

Scheduler::QueueUse Scheduler::use(QueueId queue) const {
  MutexLock lock(mu_);
  return {.busy = queues_[queue].busy(), .last_used = queues_[queue].last_used()};
}

size_t Scheduler::capacity(QueueId queue) const {
  MutexLock lock(mu_);
  return queues_[queue].capacity();
}

}  // namespace millrace::server
