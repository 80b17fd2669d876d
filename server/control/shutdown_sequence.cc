#include "server/control/shutdown_sequence.h"

#include <utility>

#include "server/logging/logging.h"

namespace millrace::server {
namespace {

// Returns the status by which shells report a program that a signal has ended.
int StatusOf(int signal) { return 128 + signal; }

}  // namespace

ShutdownSequence::~ShutdownSequence() {
  std::thread thread;
  {
    MutexLock lock(mu_);
    thread = std::move(thread_);
    started_ = main_arrived_ = true;  // no thread waits for it from now on
  }
  changed_.NotifyAll();
  if (thread.joinable()) thread.join();
}

void ShutdownSequence::OnSignal(int signal) {
  int count = 0;
  {
    MutexLock lock(mu_);
    count = ++signals_;
    last_signal_ = signal;
    if (count == 1) thread_ = std::thread([this] { Run(); });
    if (count == 2) forcing_signal_ = signal;
  }
  changed_.NotifyAll();
  if (count == 1) {
    logging::Info("stopping", {{"signal", signal}});
    interrupt_();
  }
  if (count == 2) {
    logging::Warning("stopping at once", {{"signal", signal}});
    guard_.Arm(kForcedGrace, StatusOf(signal), "a second signal came");
  }
  if (count > 2) exit_(StatusOf(signal));
}

void ShutdownSequence::SetDrain(std::function<void()> drain) {
  {
    MutexLock lock(mu_);
    drain_ = std::move(drain);
    started_ = true;
  }
  changed_.NotifyAll();
}

void ShutdownSequence::Await() {
  {
    MutexLock lock(mu_);
    started_ = main_arrived_ = true;
    changed_.NotifyAll();
    DrainOnce();
  }
  guard_.Arm(kTeardownGrace, 1, "what runs did not end in time");
}

void ShutdownSequence::Run() {
  MutexLock lock(mu_);
  if (!AwaitMainThread(started_)) {
    lock.Unlock();
    return EndWithoutMainThread("stopped while a model was loaded at the start");
  }
  DrainOnce();
  if (!AwaitMainThread(main_arrived_)) {
    lock.Unlock();
    EndWithoutMainThread("stopped while a model was loaded");
  }
}

void ShutdownSequence::DrainOnce() {
  if (state_ == Drain::kNotBegun) {
    state_ = Drain::kRuns;
    const std::function<void()> drain = std::move(drain_);
    mu_.Unlock();
    if (drain != nullptr) drain();
    mu_.Lock();
    state_ = Drain::kOver;
    changed_.NotifyAll();
  }
  while (state_ != Drain::kOver) changed_.Wait(mu_);
}

bool ShutdownSequence::AwaitMainThread(const bool& flag) {
  const TimePoint end = clock_.Now() + kMainThreadGrace;
  while (!flag && clock_.Now() < end) clock_.WaitUntil(changed_, mu_, end);
  return flag;
}

void ShutdownSequence::EndWithoutMainThread(const char* message) {
  logging::Info(message, {{"exit_status", exit_status()}});
  exit_(exit_status());
}

bool ShutdownSequence::requested() const {
  MutexLock lock(mu_);
  return signals_ > 0;
}

bool ShutdownSequence::forced() const {
  MutexLock lock(mu_);
  return signals_ > 1;
}

int ShutdownSequence::signal() const {
  MutexLock lock(mu_);
  return last_signal_;
}

int ShutdownSequence::exit_status() const {
  MutexLock lock(mu_);
  return forcing_signal_ == 0 ? 0 : StatusOf(forcing_signal_);
}

bool ShutdownSequence::WaitUnlessForced(Duration time) {
  const TimePoint end = clock_.Now() + time;
  MutexLock lock(mu_);
  while (signals_ < 2 && clock_.Now() < end) clock_.WaitUntil(changed_, mu_, end);
  return signals_ < 2;
}

}  // namespace millrace::server
