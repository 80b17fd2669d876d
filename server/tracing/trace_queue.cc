#include "server/tracing/trace_queue.h"

#include <utility>

namespace millrace::tracing {

void TraceQueue::Push(TraceRecord record) {
  const size_t spans = record.spans.size();
  bool wake = false;
  {
    MutexLock lock(mu_);
    // A trace that is longer than the queue may still be the only one in it.
    if (closed_ || (spans_ != 0 && spans_ + spans > limits_.max_spans)) {
      counts_.AddDropped(Drop::kQueueFull, spans);
      return;
    }
    const bool had_batch = spans_ >= limits_.batch_spans;
    spans_ += spans;
    records_.push_back(std::move(record));
    wake = !had_batch && spans_ >= limits_.batch_spans;
  }
  if (wake) changed_.NotifyAll();
}

std::vector<TraceRecord> TraceQueue::Take(TimePoint until) {
  std::vector<TraceRecord> batch;
  MutexLock lock(mu_);
  while (!closed_ && spans_ < limits_.batch_spans && changed_.WaitUntil(mu_, until)) {
  }
  size_t taken = 0;
  while (!records_.empty() && taken < limits_.batch_spans) {
    taken += records_.front().spans.size();
    batch.push_back(std::move(records_.front()));
    records_.pop_front();
  }
  spans_ -= taken;
  return batch;
}

void TraceQueue::Close() {
  {
    MutexLock lock(mu_);
    closed_ = true;
  }
  changed_.NotifyAll();
}

bool TraceQueue::Sleep(TimePoint until) {
  MutexLock lock(mu_);
  while (!closed_ && changed_.WaitUntil(mu_, until)) {
  }
  return !closed_;
}

bool TraceQueue::closed() const {
  MutexLock lock(mu_);
  return closed_;
}

size_t TraceQueue::spans() const {
  MutexLock lock(mu_);
  return spans_;
}

}  // namespace millrace::tracing
