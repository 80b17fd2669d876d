#include "server/scheduling/scheduler.h"

#include <algorithm>
#include <utility>

#include "models/core/strings.h"
#include "server/scheduling/refusal.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

// Weight of the newest step in the moving averages: follows a change of load within some ten steps.
constexpr double kAverageWeight = 0.2;

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
    const double wait =
        static_cast<double>(queue.jobs.size()) * queue.seconds_per_job / options_.workers;
    if (queue.jobs.size() >= queue.capacity) {
      return Refused(StrCat("the queue of model '", job->model->info().name, "' is full (",
                            queue.capacity, " requests)"),
                     std::chrono::duration<double>(wait));
    }
    // A job that would start too late only takes the place of one that could still make it.
    if (!queue.jobs.empty() && job->request.deadline() != TimePoint::max()) {
      const double left = Seconds(job->request.deadline() - now);
      if (wait + queue.seconds_per_step > left) {
        return Refused(StrCat("model '", job->model->info().name,
                              "' is busy: the deadline would pass before this request's turn"),
                       std::chrono::duration<double>(wait));
      }
    }
    job->enqueued = now;
    Push(queue, std::move(job));
    wake = ShouldWake();
  }
  if (wake) work_.NotifyOne();
  return absl::OkStatus();
}

void Scheduler::Requeue(std::unique_ptr<Job> job) {
  bool wake = false;
  {
    MutexLock lock(mu_);
    if (!closed_) {
      job->enqueued = clock_.Now();
      Queue& queue = queues_[job->model->queue()];
      Push(queue, std::move(job));
      wake = ShouldWake();
    }
  }
  if (job != nullptr)
    FinishJob(std::move(job), absl::UnavailableError("the server is shutting down"));
  if (wake) work_.NotifyOne();
}

void Scheduler::Push(Queue& queue, std::unique_ptr<Job> job) {
  queue.jobs.push_back(std::move(job));
  ++total_;
}

std::unique_ptr<Job> Scheduler::Remove(QueueId queue_id, const Reply& reply) {
  MutexLock lock(mu_);
  auto& jobs = queues_[queue_id].jobs;
  const auto found = std::find_if(jobs.begin(), jobs.end(),
                                  [&reply](const auto& job) { return &job->reply == &reply; });
  if (found == jobs.end()) return nullptr;
  std::unique_ptr<Job> removed = std::move(*found);
  jobs.erase(found);
  --total_;
  return removed;
}

std::vector<std::unique_ptr<Job>> Scheduler::TakeExpired() {
  const TimePoint now = clock_.Now();
  std::vector<std::unique_ptr<Job>> expired;
  MutexLock lock(mu_);
  for (Queue& queue : queues_) {
    for (std::unique_ptr<Job>& job : queue.jobs) {
      if (now >= job->request.deadline()) expired.push_back(std::move(job));
    }
    std::erase(queue.jobs, nullptr);
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
  next_ready = TimePoint::max();
  for (Queue& queue : queues_) {
    if (queue.jobs.empty()) continue;
    const TimePoint oldest = queue.jobs.front()->enqueued;
    if (queue.jobs.size() < queue.policy.max_batch && oldest + queue.policy.linger > now) {
      next_ready = std::min(next_ready, oldest + queue.policy.linger);
      continue;
    }
    if (best == nullptr || oldest < best->jobs.front()->enqueued) best = &queue;
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
          while (!queue->jobs.empty() && popped.batch.size() < queue->policy.max_batch) {
            std::unique_ptr<Job> job = std::move(queue->jobs.front());
            queue->jobs.pop_front();
            --total_;
            const bool late = job->request.cancelled() || now >= job->request.deadline();
            (late ? popped.dropped : popped.batch).push_back(std::move(job));
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

void Scheduler::ReportStep(QueueId queue_id, size_t jobs, Duration took) {
  const double step = Seconds(took);
  const double per_job = step / static_cast<double>(jobs);
  MutexLock lock(mu_);
  Queue& queue = queues_[queue_id];
  const auto average = [](double old, double value) {
    return old == 0 ? value : old + kAverageWeight * (value - old);
  };
  queue.seconds_per_job = average(queue.seconds_per_job, per_job);
  queue.seconds_per_step = average(queue.seconds_per_step, step);
}

std::vector<std::unique_ptr<Job>> Scheduler::Close() {
  std::vector<std::unique_ptr<Job>> waiting;
  {
    MutexLock lock(mu_);
    closed_ = true;
    for (Queue& queue : queues_) {
      for (auto& job : queue.jobs) waiting.push_back(std::move(job));
      queue.jobs.clear();
    }
    total_ = 0;
  }
  work_.NotifyAll();
  return waiting;
}

size_t Scheduler::depth(QueueId queue) const {
  MutexLock lock(mu_);
  return queues_[queue].jobs.size();
}

size_t Scheduler::capacity(QueueId queue) const {
  MutexLock lock(mu_);
  return queues_[queue].capacity;
}

}  // namespace millrace::server
