#include "server/http/connection_threads.h"

#include <exception>

#include "server/logging/logging.h"

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
  std::function<void()> own;  // served here: there is no thread at all
  {
    MutexLock lock(mu_);
    connections_.push_back(std::move(connection));
    if (threads_.size() < running_ + connections_.size() && !AddThread() && threads_.empty())
      own = TakeNext();
  }
  work_.NotifyOne();
  if (own) {
    own();
    MutexLock lock(mu_);
    Served();
  }
  return static_cast<EnqueueResult>(true);
}

void ConnectionThreads::shutdown() {
  accept_ended_();
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  work_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

bool ConnectionThreads::AddThread() {
  try {
    threads_.reserve(threads_.size() + 1);
    threads_.push_back(spawn_([this] { Run(); }));
    short_of_threads_ = false;
    return true;
  } catch (const std::exception& error) {
    if (!std::exchange(short_of_threads_, true)) {
      logging::Warning("HTTP connections wait for each other: no further thread can be started",
                       {{"threads", threads_.size()}, {"reason", error.what()}});
    }
    return false;
  }
}

void ConnectionThreads::Run() {
  MutexLock lock(mu_);
  for (;;) {
    while (connections_.empty() && !stopping_) work_.Wait(mu_);
    if (connections_.empty()) return;
    const std::function<void()> connection = TakeNext();
    lock.Unlock();
    connection();
    lock.Lock();
    Served();
  }
}

std::function<void()> ConnectionThreads::TakeNext() {
  std::function<void()> connection = std::move(connections_.front());
  connections_.pop_front();
  ++running_;
  return connection;
}

void ConnectionThreads::Served() {
  --running_;
  // Under the lock: whoever enters next finds this thread free.
  gate_.Leave();
}

}  // namespace millrace
