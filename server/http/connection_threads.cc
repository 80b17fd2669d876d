#include "server/http/connection_threads.h"

namespace millrace {

void ConnectionGate::Enter() {
  MutexLock lock(mu_);
  while (free_ <= 0 && !closed_) changed_.Wait(mu_);
  --free_;
}

void ConnectionGate::Leave() {
  MutexLock lock(mu_);
  ++free_;
  changed_.NotifyAll();
}

void ConnectionGate::Close() {
  MutexLock lock(mu_);
  closed_ = true;
  changed_.NotifyAll();
}

ConnectionThreads::EnqueueResult ConnectionThreads::enqueue(std::function<void()> connection) {
  gate_.Enter();
  {
    MutexLock lock(mu_);
    connections_.push_back(std::move(connection));
    if (threads_.size() < running_ + connections_.size()) threads_.emplace_back([this] { Run(); });
  }
  work_.NotifyOne();
  return static_cast<EnqueueResult>(true);
}

void ConnectionThreads::shutdown() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  work_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void ConnectionThreads::Run() {
  MutexLock lock(mu_);
  for (;;) {
    while (connections_.empty() && !stopping_) work_.Wait(mu_);
    if (connections_.empty()) return;
    const std::function<void()> connection = std::move(connections_.front());
    connections_.pop_front();
    ++running_;
    lock.Unlock();
    connection();
    lock.Lock();
    --running_;
    // Under the lock: whoever enters next finds this thread free.
    gate_.Leave();
  }
}

}  // namespace millrace
