#include "server/http/request_threads.h"

#include <exception>

#include "models/core/errors.h"
#include "server/logging/logging.h"

namespace millrace {

absl::Status RequestThreads::Start() {
  return AddThread() ? absl::OkStatus() : Unavailable("cannot start a thread");
}

bool RequestThreads::Submit(std::unique_ptr<Connection>& connection) {
  size_t wanted = 0;
  {
    MutexLock lock(mu_);
    wanted = running_ + waiting_.size() + 1;
    if (stopping_ || wanted > max_threads_ + max_waiting_) return false;
    wanted += serving_on_;
    waiting_.emplace_back();
    waiting_.back() = std::move(connection);
  }
  work_.NotifyOne();
  if (wanted > threads_.size() && threads_.size() < max_threads_) AddThread();
  return true;
}

void RequestThreads::Stop() {
  std::deque<std::unique_ptr<Connection>> dropped;
  {
    MutexLock lock(mu_);
    stopping_ = true;
    dropped.swap(waiting_);
  }
  work_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool RequestThreads::AddThread() noexcept {
  try {
    threads_.reserve(threads_.size() + 1);
    threads_.push_back(spawn_([this] { Run(); }));
    short_of_threads_ = false;
    return true;
  } catch (const std::exception& error) {
    if (!std::exchange(short_of_threads_, true)) {
      logging::Warning("HTTP requests wait for each other: no further thread can be started",
                       {{"threads", threads_.size()}, {"reason", error.what()}});
    }
    return false;
  }
}

void RequestThreads::Run() {
  MutexLock lock(mu_);
  for (;;) {
    while (waiting_.empty() && !stopping_) work_.Wait(mu_);
    if (waiting_.empty()) return;
    std::unique_ptr<Connection> connection = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    lock.Unlock();
    const Connection::Fate fate = ServeAll(*connection);
    give_back_(std::move(connection), fate);
    lock.Lock();
  }
}

Connection::Fate RequestThreads::ServeAll(Connection& connection) {
  for (;;) {
    const Connection::Fate fate = serve_(connection);
    if (!EndRequest(fate)) return fate;
    const Next next = await_(connection);
    if (!EndWait(next)) return next == Next::kGone ? Connection::Fate::kClose : fate;
  }
}

bool RequestThreads::EndRequest(Connection::Fate fate) {
  MutexLock lock(mu_);
  --running_;
  if (await_ == nullptr || fate != Connection::Fate::kKeep) return false;
  if (stopping_ || !waiting_.empty() || serving_on_ >= max_threads_ / 2) return false;
  ++serving_on_;
  return true;
}

bool RequestThreads::EndWait(Next next) {
  MutexLock lock(mu_);
  --serving_on_;
  if (next != Next::kRequest || stopping_) return false;
  ++running_;
  return true;
}

}  // namespace millrace
