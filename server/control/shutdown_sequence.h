#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/control/exit_guard.h"

namespace millrace::server {

// The end of the process, in an order that no hanging thread can hold up. The first signal drains
// the server on a thread of its own; then the main thread takes everything down. If the main thread
// does not come, as while it loads a model, the process ends without it. A second signal cuts all
// waiting short, and a third ends the process at once.
class ShutdownSequence {
 public:
  // The time that the main thread may continue its task, such as a load, after the drain.
  static constexpr std::chrono::seconds kMainThreadGrace{5};
  // The time that the teardown may take.
  static constexpr std::chrono::seconds kTeardownGrace{15};
  // The time that everything may take after a second signal.
  static constexpr std::chrono::seconds kForcedGrace{2};

  // `interrupt` makes the main thread call Await; it may be called on any thread. The guard and the
  // clock must outlive this.
  ShutdownSequence(std::function<void()> interrupt, ExitGuard& guard, ExitGuard::Exit exit,
                   Clock& clock = Clock::Real())
      : interrupt_(std::move(interrupt)), guard_(guard), exit_(std::move(exit)), clock_(clock) {}
  ~ShutdownSequence();
  ShutdownSequence(const ShutdownSequence&) = delete;
  ShutdownSequence& operator=(const ShutdownSequence&) = delete;

  // Called on the signal watch's thread for each signal. It returns at once, except for the third.
  void OnSignal(int signal) MILLRACE_EXCLUDES(mu_);

  // Main thread. Sets the drain once there is something to drain: it refuses new requests and waits
  // for those that run with WaitUnlessForced. It is called once, on any thread.
  void SetDrain(std::function<void()> drain) MILLRACE_EXCLUDES(mu_);
  // Main thread. Called when the main loop has ended, by a signal or by a failure; the drain is
  // over when it returns. Arms the guard for the caller's teardown.
  void Await() MILLRACE_EXCLUDES(mu_);

  bool requested() const MILLRACE_EXCLUDES(mu_);
  bool forced() const MILLRACE_EXCLUDES(mu_);
  int signal() const MILLRACE_EXCLUDES(mu_);  // the last signal; 0: none
  // Returns 0 after an orderly stop or none, otherwise 128 plus the second signal.
  int exit_status() const MILLRACE_EXCLUDES(mu_);
  // Any thread. Waits for the time to pass; returns false when a second signal has cut it short.
  bool WaitUnlessForced(Duration time) MILLRACE_EXCLUDES(mu_);

 private:
  enum class Drain : uint8_t { kNotBegun, kRuns, kOver };

  void Run() MILLRACE_EXCLUDES(mu_);
  // Runs the drain, or waits until the thread that runs it has finished.
  void DrainOnce() MILLRACE_REQUIRES(mu_);
  // Waits until the flag is set; returns false if the main thread's grace ends first.
  bool AwaitMainThread(const bool& flag) MILLRACE_REQUIRES(mu_);
  void EndWithoutMainThread(const char* message) MILLRACE_EXCLUDES(mu_);

  const std::function<void()> interrupt_;
  ExitGuard& guard_;
  const ExitGuard::Exit exit_;
  Clock& clock_;

  mutable Mutex mu_;
  CondVar changed_;
  int signals_ MILLRACE_GUARDED_BY(mu_) = 0;
  int last_signal_ MILLRACE_GUARDED_BY(mu_) = 0;
  int forcing_signal_ MILLRACE_GUARDED_BY(mu_) = 0;
  std::function<void()> drain_ MILLRACE_GUARDED_BY(mu_);
  bool started_ MILLRACE_GUARDED_BY(mu_) = false;       // the drain was set, or the start failed
  bool main_arrived_ MILLRACE_GUARDED_BY(mu_) = false;  // the main thread is in Await
  Drain state_ MILLRACE_GUARDED_BY(mu_) = Drain::kNotBegun;
  std::thread thread_ MILLRACE_GUARDED_BY(mu_);  // started by the first signal
};

}  // namespace millrace::server
