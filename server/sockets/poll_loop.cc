#include "server/sockets/poll_loop.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>

#include "models/core/errors.h"
#include "server/sockets/poll_group.h"

namespace millrace {

PollLoop::~PollLoop() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  wake_->Wake();
  thread_.join();
}

absl::Status PollLoop::Add(PollGroup& group) {
  MutexLock lock(mu_);
  if (!thread_.joinable()) {
    MILLRACE_RETURN_IF_ERROR(wake_->descriptor() < 0 ? wake_->Open() : absl::OkStatus());
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::exception& error) {
      return Unavailable("cannot start a thread: ", error.what());
    }
  }
  groups_.push_back(&group);
  most_waits_ += group.most_waits();
  wake_->Wake();
  return absl::OkStatus();
}

void PollLoop::Run() {
  while (BeginTurn()) {
    Wait();
    const TimePoint now = clock_.Now();
    for (PollGroup* const group : turn_) group->Serve(waits_, now);
  }
}

bool PollLoop::BeginTurn() {
  {
    MutexLock lock(mu_);
    if (stopping_) return false;
    turn_ = groups_;
    waits_.reserve(most_waits_);
  }
  const TimePoint now = clock_.Now();
  std::erase_if(turn_, [this, now](PollGroup* group) {
    if (group->Prepare(now)) return false;
    MutexLock lock(mu_);
    std::erase(groups_, group);
    group_gone_.NotifyAll();
    return true;
  });
  return true;
}

void PollLoop::Wait() {
  TimePoint next = TimePoint::max();
  waits_.clear();
  waits_.push_back({.fd = wake_->descriptor(), .events = POLLIN, .revents = 0});
  for (PollGroup* const group : turn_) next = std::min(next, group->AddTo(waits_));
  int timeout_ms = -1;
  if (next != TimePoint::max()) {
    // One that is due at once may say so by the least of all times, from which no time subtracts.
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(std::max(next, TimePoint()) - clock_.Now());
    timeout_ms = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000));
  }
  if (poll(waits_.data(), waits_.size(), timeout_ms) < 0) {
    for (pollfd& wait : waits_) wait.revents = 0;  // a signal
  }
  if (waits_[0].revents != 0) wake_->Drain();
}

}  // namespace millrace
