#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/executors/control_messages.h"
#include "server/executors/executor_process.h"
#include "server/executors/frame.h"
#include "server/executors/step_gate.h"
#include "server/executors/step_messages.h"

namespace millrace::server {

// The front's connections to one executor, from its start to its death; its successor has others.
// Thread-safe, but each connection for steps has one user at a time.
class ExecutorLink {
 public:
  // patience: how often a wait asks whether to go on.
  ExecutorLink(FileDescriptor control, std::vector<FileDescriptor> lanes, FileDescriptor crash_page,
               std::unique_ptr<ExecutorProcess> process, std::chrono::milliseconds patience);
  ExecutorLink(const ExecutorLink&) = delete;
  ExecutorLink& operator=(const ExecutorLink&) = delete;

  int64_t pid() const { return process_->pid(); }
  // Names it in the log and in the errors of requests.
  std::string name() const;
  uint64_t MemoryBytes() const { return process_->MemoryBytes(); }
  // Returns false from the moment that its death is noticed.
  bool alive() const { return alive_.load(std::memory_order_acquire); }
  StepGate& gate() { return gate_; }
  // Returns whether it has completed a step.
  bool worked() const { return worked_.load(std::memory_order_relaxed); }

  // Runs a step over a connection for steps. An error means that the executor is dead, except
  // RESOURCE_EXHAUSTED: the step is too large to be sent. When keep_waiting returns false, it is
  // killed as one that hangs; `why` says so.
  absl::StatusOr<std::vector<StepResult>> RunStep(size_t lane, const FieldWriter& step,
                                                  size_t requests, std::string_view why,
                                                  MessageSocket::KeepWaiting keep_waiting);
  // Says something over the control connection. Does not wait for long: an executor that does not
  // read is killed.
  void Tell(const ToExecutor& message) MILLRACE_EXCLUDES(control_mu_, mu_);
  // Waits for what the executor says there. One thread.
  absl::StatusOr<FromExecutor> Receive(MessageSocket::KeepWaiting keep_waiting);

  // The models that it has.
  void AddModel(uint64_t model) MILLRACE_EXCLUDES(mu_);
  bool Has(uint64_t model) const MILLRACE_EXCLUDES(mu_);
  // Returns the steps that run or wait on it.
  int steps() const { return steps_.load(std::memory_order_relaxed); }

  // The connection of a step, from when it waits until it has ended: the first one that is free, so
  // that no more workers of the executor than needed have graphs. The front's workers must not be
  // more than the connections.
  class Lane {
   public:
    explicit Lane(ExecutorLink& link) : link_(link), number_(link.TakeLane()) {}
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane() { link_.LeaveLane(number_); }
    size_t number() const { return number_; }

   private:
    ExecutorLink& link_;
    const size_t number_;
  };

  // Kills it. The first reason counts.
  void Kill(DeathCause cause, std::string_view how) MILLRACE_EXCLUDES(mu_);
  // Waits for its end. Called once.
  ExecutorDeath Reap() MILLRACE_EXCLUDES(mu_);
  // Tells those who wait in AwaitDeath how it ended.
  void Announce(const ExecutorDeath& death) MILLRACE_EXCLUDES(mu_);
  // Waits until its death is announced; it must have been noticed.
  ExecutorDeath AwaitDeath() MILLRACE_EXCLUDES(mu_);
  // The file of what it records for its crash.
  int crash_page() const { return crash_page_.get(); }

 private:
  absl::StatusOr<std::vector<StepResult>> ReceiveResults(size_t lane, size_t requests,
                                                         MessageSocket::KeepWaiting keep_waiting);
  size_t TakeLane() MILLRACE_EXCLUDES(mu_);
  void LeaveLane(size_t number) MILLRACE_EXCLUDES(mu_);
  // Ends its connections, so that everybody notices its death.
  void Disconnect();

  const std::unique_ptr<ExecutorProcess> process_;
  const FileDescriptor crash_page_;
  std::atomic<bool> alive_{true};
  std::atomic<bool> worked_{false};
  std::atomic<int> steps_{0};
  StepGate gate_;
  std::deque<MessageSocket> lanes_;
  MessageSocket control_;
  Mutex control_mu_;  // held while something is sent over it

  mutable Mutex mu_;
  CondVar reaped_;
  std::optional<ExecutorDeath> killed_ MILLRACE_GUARDED_BY(mu_);  // why it was killed from here
  std::optional<ExecutorDeath> death_ MILLRACE_GUARDED_BY(mu_);
  std::set<uint64_t> models_ MILLRACE_GUARDED_BY(mu_);
  std::vector<bool> lane_taken_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
